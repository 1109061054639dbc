"""Speed beside accuracy: Biplanar and other parsers on the same file, each in a process of its own.

`systems` says what is compared, `gold` is the file and scores what is written, `rounds` lets all systems take turns in
`processes`, each a `worker` that parses by way of its `adapters`; `command` measures `biplanar parse` as a whole.
`report` and `picture` show the results. `peers` trains the other parsers.
Nothing is imported here, and little by `worker` and `adapters`, as it would count as a system's own load time.
"""
