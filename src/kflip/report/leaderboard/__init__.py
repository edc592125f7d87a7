"""The leaderboard as Markdown and as one interactive page, both from the standings alone."""

from kflip.report.leaderboard.markdown import render_markdown
from kflip.report.leaderboard.page import render_page
from kflip.report.leaderboard.writing import write

__all__ = ["render_markdown", "render_page", "write"]
