"""The studio in a real browser. A package, so that pytest can end the browser when it leaves this folder."""
