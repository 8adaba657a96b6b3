00:00:00.000     1 node/journal                 writer opened (node)
00:00:00.000     2 policy/default               revised, because the settings differ from those in force (node)
00:00:00.000     --- an operator applies 2 declarations
00:00:00.000     3 node/requests                request done (operator)
00:00:00.000     4 machine/alpha                declared, create requested, because it was declared and has no instance yet (operator)
00:00:00.000     5 machine/beta                 declared, create requested, because it was declared and has no instance yet (operator)
00:00:00.018     6 machine/alpha                created i-0003, join awaited until 00:20:00.018, because the provider reported success (executor, after 4)
00:00:00.018     7 machine/beta                 created i-0004, join awaited until 00:20:00.018, because the provider reported success (executor, after 5)
00:00:00.031     8 supervisor/machines          observed 2 appeared, because the list differs from the last one (supervisor/machines)
00:00:10.000     9 machine/beta                 node reported, became well, because the report differs from the last one (agent:machine/beta)
00:00:10.000    10 machine/alpha                node reported, became well, because the report differs from the last one (agent:machine/alpha)
00:02:00.000     --- somebody creates an instance for alpha with simulated
00:02:00.000     --- somebody creates an instance for nobody with simulated
00:02:00.018    11 supervisor/machines          observed 2 appeared, because the list differs from the last one (supervisor/machines)
00:02:05.022    12 supervisor/machines          observed 2 unclaimed, because the list differs from the last one (supervisor/machines)
00:02:10.030    13 supervisor/machines          observed 2 unclaimed, because the list differs from the last one (supervisor/machines)
00:03:00.000     --- an operator removes beta and keeps its instance
00:03:00.000    14 node/requests                request done (operator)
00:03:00.000    15 machine/beta                 instance to stay, removal began, died, instance left, removed, because its removal was requested, and its instance is kept (operator)
00:07:10.033    16 supervisor/machines          observed 2 unclaimed, because the list differs from the last one (supervisor/machines)
00:15:00.000     --- an operator holds alpha for 1800.000 s: somebody looks at it
00:15:00.000    17 node/requests                request done (operator)
00:15:00.000    18 machine/alpha                held until 00:45:00.000, because an operator holds it (operator)
00:20:00.000     --- an operator applies 1 declarations
00:20:00.000    19 node/requests                request done (operator)
00:20:00.000    20 policy/default               revised, because the settings differ from those in force (operator)
00:20:00.021    21 supervisor/machines          observed 2 unclaimed, issued to nobody: remove stray, issued to alpha: remove stray, because the list differs from the last one (supervisor/machines)
00:20:00.021    22 machine/alpha                stray found, withheld, because an unknown instance has its name, and the policy deletes such instances (supervisor/machines, after 21)
00:20:00.021    23 machine/nobody               stray found, because an unknown instance has its name, and the policy deletes such instances (supervisor/machines, after 21)
00:20:00.086    24 machine/nobody               stray gone, because the provider confirmed that the stray instance is gone (executor, after 23)
00:20:05.027    25 supervisor/machines          observed claimed and vanished, because the list differs from the last one (supervisor/machines)
00:20:10.042    26 supervisor/machines          observed forgotten, because the list differs from the last one (supervisor/machines)
00:45:00.000    27 machine/alpha                hold ended, because its hold expired (schedule)
00:45:00.054    28 machine/alpha                stray gone, because the provider confirmed that the stray instance is gone (executor, after 27)
00:45:05.014    29 supervisor/machines          observed vanished, because the list differs from the last one (supervisor/machines)
00:45:10.042    30 supervisor/machines          observed forgotten, because the list differs from the last one (supervisor/machines)
01:30:00.000     --- all providers behave from now on

converged after 5400.000 s: 30 entries, 1445 provider calls, 0 crashes, seed 21
  machine/alpha                    ready
  machine/beta                     removed
  machine/nobody                   undeclared
journal 0165514aee5f801d25bdf1c27ca32206b9b8baf65ee7d766c69388d08e70fa5e
