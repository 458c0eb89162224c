"""The studio: read, run, edit and search programs of any task in the browser.

page ◄─► server ─► requests ─► spans, completion, scoring, rollouts, mapping
         │ guard, pages        (checked)   │          └► tracing, or the domain's StudioSupport
         │ offer, programs: the tasks      └─ in the threads of lanes
         └► searching ─► a process of its own
"""
