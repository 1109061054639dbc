"""Speed beside accuracy: Biplanar and other parsers on the same file, each in a process of its own.

`systems` says what is compared, `worker` is the process in which one system parses by way of its `adapters`, `rounds`
lets all systems take turns, `command` measures `biplanar parse` as a whole, and `report` and `picture` show what came
of it. Nothing is imported here, and little by `worker` and `adapters`, as it would count as a system's own load time.
"""
