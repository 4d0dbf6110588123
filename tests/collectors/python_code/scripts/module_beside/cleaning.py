def lower_columns(df, *columns):
    for column in columns:
        df[column] = df[column].str.lower()
    return df


def only_active(df):
    return df[df["is_active"] == 1].drop(columns=["is_active"])
