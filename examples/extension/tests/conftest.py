"""The same examples in every run."""

from hypothesis import settings

settings.register_profile("moonxi_more", deadline=None, derandomize=True, database=None)
settings.load_profile("moonxi_more")
