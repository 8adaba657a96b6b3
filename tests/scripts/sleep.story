00:00:00.000     1 node/journal                 created the journal (node)
00:00:00.000     2 policy/default               settings changed, because the settings differ from those in force (node)
00:00:00.000     --- an operator applies 2 declarations
00:00:00.000     3 node/requests                answered a request with 2 commands (operator)
00:00:00.000     4 machine/alpha                declared with provider simulated, 0 workloads; requested a new instance, because it was declared and has no instance yet (operator)
00:00:00.000     5 machine/beta                 declared with provider simulated, 0 workloads; requested a new instance, because it was declared and has no instance yet (operator)
00:00:00.039     6 machine/alpha                provider created instance i-0003; has until 00:20:00.039 to become healthy, because the provider reported success (executor, after 4)
00:00:00.039     7 machine/beta                 provider created instance i-0004; has until 00:20:00.039 to become healthy, because the provider reported success (executor, after 5)
00:00:05.027     8 supervisor/machines          provider simulated reported: new instance i-0004 of machine/beta, new instance i-0003 of machine/alpha, because the list differs from the last one (supervisor/machines)
00:00:10.000     9 machine/beta                 agent reported: DiskPressure healthy (changed); became healthy, because the report differs from the last one (agent:machine/beta)
00:00:10.000    10 machine/alpha                agent reported: DiskPressure healthy (changed); became healthy, because the report differs from the last one (agent:machine/alpha)
00:05:00.000     --- the agent of beta is silent for 1440.000 s
00:05:02.000     --- the node's host sleeps for 1200.000 s
00:26:07.000    11 machine/beta                 no health report since 00:04:50.000; its health reports stopped; it will be given up at 00:36:07.000 unless it recovers, because there was no health report for longer than the policy allows (supervisor/machines)
00:29:02.000    12 machine/beta                 agent reported: DiskPressure healthy (changed); became healthy, because the report differs from the last one (agent:machine/beta)

converged after 1743.000 s: 12 entries, 482 provider calls, 0 crashes, seed 29
  machine/alpha                    ready
  machine/beta                     ready
journal 711d501bae418817942116c5593543752fe3c9ff2c8559da6f3fc60812c45ea4
