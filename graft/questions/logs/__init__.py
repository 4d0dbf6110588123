"""Logs of engines, looked at before they are collected."""
