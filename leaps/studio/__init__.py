"""The studio: read, run, edit and question a program in the browser.

page ◄─► server ─► requests ─► spans, completion, scoring, tracing, filming, mapping
         │ guard, pages        (checked)       └─ in the threads of lanes
         └► searching ─► a process of its own
"""
