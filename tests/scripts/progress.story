00:00:00.000     1 node/journal                 created the journal (node)
00:00:00.000     2 policy/default               settings changed, because the settings differ from those in force (node)
00:00:00.000     --- provider simulated begins to misbehave
00:00:00.000     --- an operator applies 1 declaration
00:00:00.000     3 node/requests                answered a request with 1 command (operator)
00:00:00.000     4 machine/slow                 declared with provider simulated, 0 workloads; requested a new instance, because it was declared and has no instance yet (operator)
00:00:05.000     5 machine/slow                 provider reported progress: being created, because the provider reported progress (supervisor/machines)
00:00:44.124     6 machine/slow                 provider created instance i-0002; has until 00:20:44.124 to become healthy, because the provider reported success (executor, after 4)
00:00:50.000     7 machine/slow                 agent reported: DiskPressure healthy (changed); became healthy, because the report differs from the last one (agent:machine/slow)
00:00:54.054     8 supervisor/machines          provider simulated reported: new instance i-0002 of machine/slow, because the list differs from the last one (supervisor/machines)

converged after 51.000 s: 8 entries, 40 provider calls, 0 crashes, seed 51
  machine/slow                     ready
journal 180622d05237a0fea4b97cdc7b9384391617fb765ff66e03fa15ebcf0206a573
