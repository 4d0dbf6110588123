# lineage
# runs not: needs Spark
# mart.ratings = shop.reviews: product_id
# mart.ratings.stars <- shop.reviews.stars: aggregation
# mart.ratings.reviews <- shop.reviews.review_id: aggregation
# mart.ratings.* <- shop.reviews.product_id: group by
# mart.ratings.* <- shop.reviews.verified: filter
from pyspark.sql import SparkSession


def main():
    spark = SparkSession.builder.appName("ratings").getOrCreate()
    reviews = spark.table("shop.reviews").select("review_id", "product_id", "stars", "verified").toPandas()
    reviews = reviews[reviews["verified"]]
    rating = reviews.groupby("product_id", as_index=False).agg(stars=("stars", "mean"), reviews=("review_id", "count"))
    spark.createDataFrame(rating).write.mode("overwrite").saveAsTable("mart.ratings")
    spark.stop()


if __name__ == "__main__":
    main()
