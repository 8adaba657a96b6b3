00:00:00.000     1 node/journal                 created the journal (node)
00:00:00.000     2 policy/default               settings changed, because the settings differ from those in force (node)
00:00:00.000     --- an operator applies 1 declaration
00:00:00.000     3 node/requests                answered a request with 1 command (operator)
00:00:00.000     4 machine/alpha                declared with provider simulated, 0 workloads; requested a new instance, because it was declared and has no instance yet (operator)
00:00:00.041     5 machine/alpha                provider created instance i-0002; has until 00:20:00.041 to become healthy, because the provider reported success (executor, after 4)
00:00:05.020     6 supervisor/machines          provider simulated reported: new instance i-0002 of machine/alpha, because the list differs from the last one (supervisor/machines)
00:00:10.000     7 machine/alpha                agent reported: DiskPressure healthy (changed); became healthy, because the report differs from the last one (agent:machine/alpha)
00:02:00.000     --- an operator disowns the instance of alpha
00:02:00.000     8 node/requests                answered a request with 1 command (operator)
00:02:00.000     9 machine/alpha                disowned instance 16cada51-0ade-584d-842a-41e17a2f2f58, which keeps running, because an operator disowned its instance (operator)
00:10:00.000     --- an operator assigns alpha an instance
00:10:00.000    10 node/requests                answered a request with 1 command (operator)
00:10:00.000    11 machine/alpha                adopted instance i-0002; has until 00:30:00.000 to become healthy, because an operator assigned it an unmanaged instance (operator)
00:10:10.000    12 machine/alpha                agent reported: DiskPressure healthy (changed); became healthy, because the report differs from the last one (agent:machine/alpha)
00:20:00.000     --- an operator holds alpha: the disk is being looked at
00:20:00.000    13 node/requests                answered a request with 1 command (operator)
00:20:00.000    14 machine/alpha                held: the disk is being looked at, because an operator holds it (operator)
00:21:00.000     --- the instance of alpha dies
00:21:00.041    15 supervisor/machines          provider simulated reported: an instance stopped; told machine/alpha: instance is gone, because the list differs from the last one (supervisor/machines)
00:21:00.041    16 machine/alpha                instance lost; the replacement of its lost instance was held back, because it is held, so the step was recorded but not taken (supervisor/machines, after 15)
00:40:00.000     --- the node is killed
00:40:00.000     --- crash (now)
00:40:00.000    17 node/journal                 opened the journal after an unclean stop (start 2) (node)
00:50:00.000     --- an operator ends the hold of alpha
00:50:00.000    18 node/requests                answered a request with 1 command (operator)
00:50:00.000    19 machine/alpha                hold ended; requested the deletion of its instance, because an operator ended the hold (operator)
00:50:00.023    20 machine/alpha                provider deleted the instance; requested a new instance, because the lost instance is cleaned up and can be replaced (executor, after 19)
00:50:00.059    21 machine/alpha                provider created instance i-0005; has until 01:10:00.059 to become healthy, because the provider reported success (executor, after 20)
00:50:05.033    22 supervisor/machines          provider simulated reported: new instance i-0005 of machine/alpha, instance of machine/alpha missing, because the list differs from the last one (supervisor/machines)
00:50:10.000    23 machine/alpha                agent reported: DiskPressure healthy (changed); became healthy, because the report differs from the last one (agent:machine/alpha)
00:50:10.029    24 supervisor/machines          provider simulated reported: a missing instance was dropped, because the list differs from the last one (supervisor/machines)

converged after 3011.000 s: 24 entries, 1326 provider calls, 1 crashes, seed 22
  machine/alpha                    ready
journal 1f7142bae08d60c477d846991185d116257f51dd4dd8b3fdb8bff6001ba440c7
