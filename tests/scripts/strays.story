00:00:00.000     1 node/journal                 created the journal (node)
00:00:00.000     2 policy/default               settings changed, because the settings differ from those in force (node)
00:00:00.000     --- an operator applies 2 declarations
00:00:00.000     3 node/requests                answered a request with 2 commands (operator)
00:00:00.000     4 machine/alpha                declared with provider simulated, 0 workloads; requested a new instance, because it was declared and has no instance yet (operator)
00:00:00.000     5 machine/beta                 declared with provider simulated, 0 workloads; requested a new instance, because it was declared and has no instance yet (operator)
00:00:00.018     6 machine/alpha                provider created instance i-0003; has until 00:20:00.018 to become healthy, because the provider reported success (executor, after 4)
00:00:00.018     7 machine/beta                 provider created instance i-0004; has until 00:20:00.018 to become healthy, because the provider reported success (executor, after 5)
00:00:00.031     8 supervisor/machines          provider simulated reported: new instance i-0004 of machine/beta, new instance i-0003 of machine/alpha, because the list differs from the last one (supervisor/machines)
00:00:10.000     9 machine/beta                 agent reported: DiskPressure healthy (changed); became healthy, because the report differs from the last one (agent:machine/beta)
00:00:10.000    10 machine/alpha                agent reported: DiskPressure healthy (changed); became healthy, because the report differs from the last one (agent:machine/alpha)
00:02:00.000     --- somebody creates an instance for alpha with simulated
00:02:00.000     --- somebody creates an instance for nobody with simulated
00:02:00.018    11 supervisor/machines          provider simulated reported: new instance i-0006 of machine/nobody, new instance i-0005 of machine/alpha, because the list differs from the last one (supervisor/machines)
00:02:05.022    12 supervisor/machines          provider simulated reported: an instance belongs to no machine, an instance belongs to no machine, because the list differs from the last one (supervisor/machines)
00:02:10.030    13 supervisor/machines          provider simulated reported: an instance belongs to no machine, an instance belongs to no machine, because the list differs from the last one (supervisor/machines)
00:03:00.000     --- an operator removes beta and keeps its instance
00:03:00.000    14 node/requests                answered a request with 1 command (operator)
00:03:00.000    15 machine/beta                 its instance will be kept; removal started; nothing depends on it any more; disowned instance 598c8959-330c-5f91-95aa-2e115f1b55c5, which keeps running; removed, because its removal was requested, and its instance is kept (operator)
00:07:10.033    16 supervisor/machines          provider simulated reported: an instance belongs to no machine, an instance belongs to no machine, because the list differs from the last one (supervisor/machines)
00:15:00.000     --- an operator holds alpha for 1800.000 s: somebody looks at it
00:15:00.000    17 node/requests                answered a request with 1 command (operator)
00:15:00.000    18 machine/alpha                held until 00:45:00.000: somebody looks at it, because an operator holds it (operator)
00:20:00.000     --- an operator applies 1 declaration
00:20:00.000    19 node/requests                answered a request with 1 command (operator)
00:20:00.000    20 policy/default               settings changed, because the settings differ from those in force (operator)
00:20:00.021    21 supervisor/machines          provider simulated reported: an instance belongs to no machine, an instance belongs to no machine; ordered machine/nobody: delete stray instance i-0006; ordered machine/alpha: delete stray instance i-0005, because the list differs from the last one (supervisor/machines)
00:20:00.021    22 machine/alpha                requested the deletion of stray instance i-0005; the deletion of a stray instance was held back, because an unknown instance has its name, and the policy deletes such instances (supervisor/machines, after 21)
00:20:00.021    23 machine/nobody               requested the deletion of stray instance i-0006, because an unknown instance has its name, and the policy deletes such instances (supervisor/machines, after 21)
00:20:00.086    24 machine/nobody               stray instance 284a44c1-041a-5d4a-8ccb-5d8c65ba977c is gone, because the provider confirmed that the stray instance is gone (executor, after 23)
00:20:05.027    25 supervisor/machines          provider simulated reported: instance of machine/nobody missing, an unknown instance now belongs to a machine, because the list differs from the last one (supervisor/machines)
00:20:10.042    26 supervisor/machines          provider simulated reported: a missing instance was dropped, because the list differs from the last one (supervisor/machines)
00:45:00.000    27 machine/alpha                hold ended, because its hold expired (schedule)
00:45:00.054    28 machine/alpha                stray instance fbf50d37-1c0e-57e8-b74e-e0e20984f15e is gone, because the provider confirmed that the stray instance is gone (executor, after 27)
00:45:05.014    29 supervisor/machines          provider simulated reported: instance of machine/alpha missing, because the list differs from the last one (supervisor/machines)
00:45:10.042    30 supervisor/machines          provider simulated reported: a missing instance was dropped, because the list differs from the last one (supervisor/machines)
01:30:00.000     --- all providers behave from now on

converged after 5400.000 s: 30 entries, 1445 provider calls, 0 crashes, seed 21
  machine/alpha                    ready
  machine/beta                     removed
  machine/nobody                   undeclared
journal 0676606aa8722ac7b8eb5ad81eb00de70264dbc6e24d980154c22f083e50881b
