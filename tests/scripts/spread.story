00:00:00.000     1 node/journal                 created the journal (node)
00:00:00.000     2 policy/default               settings changed, because the settings differ from those in force (node)
00:00:00.000     --- provider simulated has the zones east, north, west
00:00:00.000     --- an operator applies 5 declarations
00:00:00.000     3 node/requests                answered a request with 5 commands (operator)
00:00:00.000     4 machine/a                    declared with provider simulated, 0 workloads; requested a new instance, because it was declared and has no instance yet (operator)
00:00:00.000     5 machine/b                    declared with provider simulated, 0 workloads; requested a new instance, because it was declared and has no instance yet (operator)
00:00:00.000     6 machine/c                    declared with provider simulated, 0 workloads; requested a new instance, because it was declared and has no instance yet (operator)
00:00:00.000     7 machine/d                    declared with provider simulated, 0 workloads; requested a new instance, because it was declared and has no instance yet (operator)
00:00:00.000     8 machine/south                declared with provider simulated, 0 workloads; requested a new instance, because it was declared and has no instance yet (operator)
00:00:00.000     --- zone north of provider simulated cannot be reached for 600.000 s
00:00:00.021     9 supervisor/machines          provider simulated reported zone east, zone north, zone west, because the provider's zones changed (supervisor/machines)
00:00:00.021    10 supervisor/machines          ordered machine/a: create in zone east; ordered machine/b: create in zone north; ordered machine/c: create in zone west; ordered machine/d: create in zone east; did not create machine/south: none of its allowed zones exists, because the observed state requires it (supervisor/machines)
00:00:00.021    11 machine/d                    will be created in zone east, because the zone for its instance was chosen (supervisor/machines, after 10)
00:00:00.021    12 machine/c                    will be created in zone west, because the zone for its instance was chosen (supervisor/machines, after 10)
00:00:00.021    13 machine/b                    will be created in zone north, because the zone for its instance was chosen (supervisor/machines, after 10)
00:00:00.021    14 machine/a                    will be created in zone east, because the zone for its instance was chosen (supervisor/machines, after 10)
00:00:00.052    15 machine/a                    provider created instance i-0004; has until 00:20:00.052 to become healthy, because the provider reported success (executor, after 14)
00:00:00.052    16 machine/b                    creating it in zone north failed (unavailable: the zone of the machine cannot be reached), because its instance could not be created in that zone, and another one may work (executor, after 13)
00:00:00.052    17 machine/c                    provider created instance i-0005; has until 00:20:00.052 to become healthy, because the provider reported success (executor, after 12)
00:00:00.052    18 machine/d                    provider created instance i-0006; has until 00:20:00.052 to become healthy, because the provider reported success (executor, after 11)
00:00:00.052    19 supervisor/machines          ordered machine/b: create in zone west, because the observed state requires it (supervisor/machines)
00:00:00.052    20 machine/b                    will be created in zone west, because the zone for its instance was chosen (supervisor/machines, after 19)
00:00:00.074    21 machine/b                    creating the instance failed (unknown: the provider cannot tell now whether it is there); next attempt at 00:00:10.074, because the outcome of the call is unknown, and the provider is asked again later (executor, after 20)
00:00:05.038    22 supervisor/machines          provider simulated reported: new instance i-0005 of machine/c, new instance i-0004 of machine/a, new instance i-0006 of machine/d, because the list differs from the last one (supervisor/machines)
00:00:10.000    23 machine/c                    agent reported: DiskPressure healthy (changed); became healthy, because the report differs from the last one (agent:machine/c)
00:00:10.000    24 machine/a                    agent reported: DiskPressure healthy (changed); became healthy, because the report differs from the last one (agent:machine/a)
00:00:10.000    25 machine/d                    agent reported: DiskPressure healthy (changed); became healthy, because the report differs from the last one (agent:machine/d)
00:00:10.074    26 machine/b                    started the next attempt, because the next attempt is due (schedule)
00:00:10.102    27 machine/b                    creating the instance failed (unknown: the provider cannot tell now whether it is there); next attempt at 00:00:30.102, because the outcome of the call is unknown, and the provider is asked again later (executor, after 26)
00:00:30.102    28 machine/b                    started the next attempt, because the next attempt is due (schedule)
00:00:30.114    29 machine/b                    creating the instance failed (unknown: the provider cannot tell now whether it is there); next attempt at 00:01:10.114, because the outcome of the call is unknown, and the provider is asked again later (executor, after 28)
00:01:10.114    30 machine/b                    started the next attempt, because the next attempt is due (schedule)
00:01:10.143    31 machine/b                    creating the instance failed (unknown: the provider cannot tell now whether it is there); next attempt at 00:02:30.143, because the outcome of the call is unknown, and the provider is asked again later (executor, after 30)
00:02:30.143    32 machine/b                    started the next attempt, because the next attempt is due (schedule)
00:02:30.185    33 machine/b                    creating the instance failed (unknown: the provider cannot tell now whether it is there); next attempt at 00:05:10.185, because the outcome of the call is unknown, and the provider is asked again later (executor, after 32)
00:05:10.185    34 machine/b                    started the next attempt, because the next attempt is due (schedule)
00:05:10.223    35 machine/b                    creating the instance failed (unknown: the provider cannot tell now whether it is there); next attempt at 00:08:10.223, because the outcome of the call is unknown, and the provider is asked again later (executor, after 34)
00:08:10.223    36 machine/b                    started the next attempt, because the next attempt is due (schedule)
00:08:10.252    37 machine/b                    creating the instance failed (unknown: the provider cannot tell now whether it is there); next attempt at 00:11:10.252, because the outcome of the call is unknown, and the provider is asked again later (executor, after 36)
00:11:10.252    38 machine/b                    started the next attempt, because the next attempt is due (schedule)
00:11:10.313    39 machine/b                    provider created instance i-0008; has until 00:31:10.313 to become healthy, because the provider reported success (executor, after 38)
00:11:15.019    40 supervisor/machines          provider simulated reported: new instance i-0008 of machine/b, because the list differs from the last one (supervisor/machines)
00:11:20.000    41 machine/b                    agent reported: DiskPressure healthy (changed); became healthy, because the report differs from the last one (agent:machine/b)
00:20:00.000     --- the instance of b dies
00:20:00.000     --- the node is killed
00:20:00.000     --- crash (now)
00:20:00.000    42 node/journal                 opened the journal after an unclean stop (start 2) (node)
00:20:00.016    43 supervisor/machines          provider simulated reported: an instance stopped; told machine/b: instance is gone, because the list differs from the last one (supervisor/machines)
00:20:00.016    44 machine/b                    instance lost; requested the deletion of its instance, because its instance is gone and the policy replaces it (supervisor/machines, after 43)
00:20:00.034    45 machine/b                    provider deleted the instance; requested a new instance, because the lost instance is cleaned up and can be replaced (executor, after 44)
00:20:00.034    46 supervisor/machines          ordered machine/b: create in zone north, because the observed state requires it (supervisor/machines)
00:20:00.034    47 machine/b                    will be created in zone north, because the zone for its instance was chosen (supervisor/machines, after 46)
00:20:00.050    48 machine/b                    provider created instance i-0011; has until 00:40:00.050 to become healthy, because the provider reported success (executor, after 47)
00:20:05.035    49 supervisor/machines          provider simulated reported: new instance i-0011 of machine/b, instance of machine/b missing, because the list differs from the last one (supervisor/machines)
00:20:10.000    50 machine/b                    agent reported: DiskPressure healthy (changed); became healthy, because the report differs from the last one (agent:machine/b)
00:20:10.036    51 supervisor/machines          provider simulated reported: a missing instance was dropped, because the list differs from the last one (supervisor/machines)

not converged after 3600.000 s: 51 entries, 732 provider calls, 1 crashes, seed 31
  machine/a                        ready
  machine/b                        ready
  machine/c                        ready
  machine/d                        ready
  machine/south                    creating
journal 866bf9f407fc87ea71b56a9968e36dcf709d037b4d2fae23d9b5b5ef77e381fd
