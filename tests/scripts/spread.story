00:00:00.000     1 node/journal                 writer opened (node)
00:00:00.000     2 policy/default               revised, because the settings differ from those in force (node)
00:00:00.000     --- provider simulated has the zones east, north, west
00:00:00.000     --- an operator applies 5 declarations
00:00:00.000     3 node/requests                request done (operator)
00:00:00.000     4 machine/a                    declared, create requested, because it was declared and has no instance yet (operator)
00:00:00.000     5 machine/b                    declared, create requested, because it was declared and has no instance yet (operator)
00:00:00.000     6 machine/c                    declared, create requested, because it was declared and has no instance yet (operator)
00:00:00.000     7 machine/d                    declared, create requested, because it was declared and has no instance yet (operator)
00:00:00.000     8 machine/south                declared, create requested, because it was declared and has no instance yet (operator)
00:00:00.000     --- zone north of provider simulated cannot be reached for 600.000 s
00:00:00.021     9 supervisor/machines          zones listed, because the provider's zones changed (supervisor/machines)
00:00:00.021    10 supervisor/machines          issued to a: site, issued to b: site, issued to c: site, issued to d: site, withheld south, because the observed state requires it (supervisor/machines)
00:00:00.021    11 machine/d                    sited, because the zone for its instance was chosen (supervisor/machines, after 10)
00:00:00.021    12 machine/c                    sited, because the zone for its instance was chosen (supervisor/machines, after 10)
00:00:00.021    13 machine/b                    sited, because the zone for its instance was chosen (supervisor/machines, after 10)
00:00:00.021    14 machine/a                    sited, because the zone for its instance was chosen (supervisor/machines, after 10)
00:00:00.052    15 machine/a                    created i-0004, join awaited until 00:20:00.052, because the provider reported success (executor, after 14)
00:00:00.052    16 machine/b                    zone blamed [unavailable], because its instance could not be created in that zone, and another one may work (executor, after 13)
00:00:00.052    17 machine/c                    created i-0005, join awaited until 00:20:00.052, because the provider reported success (executor, after 12)
00:00:00.052    18 machine/d                    created i-0006, join awaited until 00:20:00.052, because the provider reported success (executor, after 11)
00:00:00.052    19 supervisor/machines          issued to b: site, because the observed state requires it (supervisor/machines)
00:00:00.052    20 machine/b                    sited, because the zone for its instance was chosen (supervisor/machines, after 19)
00:00:00.074    21 machine/b                    create retry scheduled until 00:00:10.074 [unknown], because the outcome of the call is unknown, and the provider is asked again later (executor, after 20)
00:00:05.038    22 supervisor/machines          observed 3 appeared, because the list differs from the last one (supervisor/machines)
00:00:10.000    23 machine/c                    node reported, became well, because the report differs from the last one (agent:machine/c)
00:00:10.000    24 machine/a                    node reported, became well, because the report differs from the last one (agent:machine/a)
00:00:10.000    25 machine/d                    node reported, became well, because the report differs from the last one (agent:machine/d)
00:00:10.074    26 machine/b                    attempt begun, because the next attempt is due (schedule)
00:00:10.102    27 machine/b                    create retry scheduled until 00:00:30.102 [unknown], because the outcome of the call is unknown, and the provider is asked again later (executor, after 26)
00:00:30.102    28 machine/b                    attempt begun, because the next attempt is due (schedule)
00:00:30.114    29 machine/b                    create retry scheduled until 00:01:10.114 [unknown], because the outcome of the call is unknown, and the provider is asked again later (executor, after 28)
00:01:10.114    30 machine/b                    attempt begun, because the next attempt is due (schedule)
00:01:10.143    31 machine/b                    create retry scheduled until 00:02:30.143 [unknown], because the outcome of the call is unknown, and the provider is asked again later (executor, after 30)
00:02:30.143    32 machine/b                    attempt begun, because the next attempt is due (schedule)
00:02:30.185    33 machine/b                    create retry scheduled until 00:05:10.185 [unknown], because the outcome of the call is unknown, and the provider is asked again later (executor, after 32)
00:05:10.185    34 machine/b                    attempt begun, because the next attempt is due (schedule)
00:05:10.223    35 machine/b                    create retry scheduled until 00:08:10.223 [unknown], because the outcome of the call is unknown, and the provider is asked again later (executor, after 34)
00:08:10.223    36 machine/b                    attempt begun, because the next attempt is due (schedule)
00:08:10.252    37 machine/b                    create retry scheduled until 00:11:10.252 [unknown], because the outcome of the call is unknown, and the provider is asked again later (executor, after 36)
00:11:10.252    38 machine/b                    attempt begun, because the next attempt is due (schedule)
00:11:10.313    39 machine/b                    created i-0008, join awaited until 00:31:10.313, because the provider reported success (executor, after 38)
00:11:15.019    40 supervisor/machines          observed appeared, because the list differs from the last one (supervisor/machines)
00:11:20.000    41 machine/b                    node reported, became well, because the report differs from the last one (agent:machine/b)
00:20:00.000     --- the instance of b dies
00:20:00.000     --- the node is killed
00:20:00.000     --- crash (now)
00:20:00.000    42 node/journal                 writer opened (node)
00:20:00.016    43 supervisor/machines          observed status changed, issued to b: lost, because the list differs from the last one (supervisor/machines)
00:20:00.016    44 machine/b                    instance lost, delete requested, because its instance is gone and the policy replaces it (supervisor/machines, after 43)
00:20:00.034    45 machine/b                    deleted, create requested, because the lost instance is cleaned up and can be replaced (executor, after 44)
00:20:00.034    46 supervisor/machines          issued to b: site, because the observed state requires it (supervisor/machines)
00:20:00.034    47 machine/b                    sited, because the zone for its instance was chosen (supervisor/machines, after 46)
00:20:00.050    48 machine/b                    created i-0011, join awaited until 00:40:00.050, because the provider reported success (executor, after 47)
00:20:05.035    49 supervisor/machines          observed appeared and vanished, because the list differs from the last one (supervisor/machines)
00:20:10.000    50 machine/b                    node reported, became well, because the report differs from the last one (agent:machine/b)
00:20:10.036    51 supervisor/machines          observed forgotten, because the list differs from the last one (supervisor/machines)

not converged after 3600.000 s: 51 entries, 732 provider calls, 1 crashes, seed 31
  machine/a                        ready
  machine/b                        ready
  machine/c                        ready
  machine/d                        ready
  machine/south                    creating
journal 97f46f4a58236a529d39580574e8032f1b14e53d43b7744e50630f810ea99eb5
