00:00:00.000     1 node/journal                 created the journal (node)
00:00:00.000     2 policy/default               settings changed, because the settings differ from those in force (node)
00:00:00.000     --- an operator applies 5 declarations
00:00:00.000     3 node/requests                answered a request with 5 commands (operator)
00:00:00.000     4 machine/alpha                declared with provider simulated, 0 workloads; requested a new instance, because it was declared and has no instance yet (operator)
00:00:00.000     5 machine/beta                 declared with provider simulated, 0 workloads; requested a new instance, because it was declared and has no instance yet (operator)
00:00:00.000     6 machine/gamma                declared with provider simulated, 0 workloads; requested a new instance, because it was declared and has no instance yet (operator)
00:00:00.000     7 machine/delta                declared with provider simulated, 0 workloads; requested a new instance, because it was declared and has no instance yet (operator)
00:00:00.000     8 machine/epsilon              declared with provider simulated, 0 workloads; requested a new instance, because it was declared and has no instance yet (operator)
00:00:00.020     9 machine/alpha                provider created instance i-0006; has until 00:20:00.020 to become healthy, because the provider reported success (executor, after 4)
00:00:00.020    10 machine/beta                 provider created instance i-0007; has until 00:20:00.020 to become healthy, because the provider reported success (executor, after 5)
00:00:00.020    11 machine/delta                provider created instance i-0008; has until 00:20:00.020 to become healthy, because the provider reported success (executor, after 7)
00:00:00.020    12 machine/epsilon              provider created instance i-0009; has until 00:20:00.020 to become healthy, because the provider reported success (executor, after 8)
00:00:00.020    13 machine/gamma                provider created instance i-0010; has until 00:20:00.020 to become healthy, because the provider reported success (executor, after 6)
00:00:00.025    14 supervisor/machines          provider simulated reported: 5 changes, because the list differs from the last one (supervisor/machines)
00:00:10.000    15 machine/alpha                agent reported: DiskPressure healthy (changed); became healthy, because the report differs from the last one (agent:machine/alpha)
00:00:10.000    16 machine/beta                 agent reported: DiskPressure healthy (changed); became healthy, because the report differs from the last one (agent:machine/beta)
00:00:10.000    17 machine/epsilon              agent reported: DiskPressure healthy (changed); became healthy, because the report differs from the last one (agent:machine/epsilon)
00:00:10.000    18 machine/delta                agent reported: DiskPressure healthy (changed); became healthy, because the report differs from the last one (agent:machine/delta)
00:00:10.000    19 machine/gamma                agent reported: DiskPressure healthy (changed); became healthy, because the report differs from the last one (agent:machine/gamma)
00:05:00.000     --- the agent of alpha is silent for 1800.000 s
00:05:00.000     --- the agent of beta is silent for 1800.000 s
00:05:00.000     --- the agent of gamma is silent for 1800.000 s
00:05:35.000    20 machine/alpha                no health report since 00:04:50.000; its health reports stopped; it will be given up at 00:15:35.000 unless it recovers, because there was no health report for longer than the policy allows (supervisor/machines)
00:05:35.000    21 machine/beta                 no health report since 00:04:50.000; its health reports stopped; it will be given up at 00:15:35.000 unless it recovers, because there was no health report for longer than the policy allows (supervisor/machines)
00:05:35.000    22 machine/gamma                no health report since 00:04:50.000; its health reports stopped; it will be given up at 00:15:35.000 unless it recovers, because there was no health report for longer than the policy allows (supervisor/machines)
00:06:00.000     --- the node is killed
00:06:00.000     --- crash (now)
00:06:00.000    23 node/journal                 opened the journal after an unclean stop (start 2) (node)
00:15:35.000    24 machine/alpha                its time ran out: its health reports stopped, because it did not become healthy in time, and its supervisor decides what happens next (schedule)
00:15:35.000    25 machine/beta                 its time ran out: its health reports stopped, because it did not become healthy in time, and its supervisor decides what happens next (schedule)
00:15:35.000    26 machine/gamma                its time ran out: its health reports stopped, because it did not become healthy in time, and its supervisor decides what happens next (schedule)
00:15:35.000    27 supervisor/machines          did not replace machine/alpha: asking provider simulated about its instance; did not replace machine/beta: asking provider simulated about its instance; did not replace machine/gamma: asking provider simulated about its instance, because replacements were held back, or released (supervisor/machines)
00:15:35.016    28 supervisor/machines          provider simulated still has the instance of machine/alpha, machine/beta, machine/gamma, because the provider was asked about these instances, and still has them (supervisor/machines)
00:15:35.016    29 supervisor/machines          ordered machine/alpha: give up its instance and replace it; machine/alpha may be replaced again; did not replace machine/beta: the replacement budget is used up; did not replace machine/gamma: the replacement budget is used up, because the observed state requires it (supervisor/machines)
00:15:35.016    30 machine/alpha                gave up the instance: its health reports stopped; requested the deletion of its instance, because it did not become healthy in time and the replacement budget allows it (supervisor/machines, after 29)
00:15:35.052    31 machine/alpha                provider deleted the instance; requested a new instance, because the lost instance is cleaned up and can be replaced (executor, after 30)
00:15:35.059    32 machine/alpha                provider created instance i-0013; has until 00:35:35.059 to become healthy, because the provider reported success (executor, after 31)
00:15:40.023    33 supervisor/machines          provider simulated reported: new instance i-0013 of machine/alpha, instance of machine/alpha missing, because the list differs from the last one (supervisor/machines)
00:15:45.033    34 supervisor/machines          provider simulated reported: a missing instance was dropped, because the list differs from the last one (supervisor/machines)
00:16:25.000    35 machine/alpha                no health report since 00:15:35.059, because there was no health report for longer than the policy allows (supervisor/machines)
00:35:00.000    36 machine/beta                 agent reported: DiskPressure healthy (changed); became healthy, because the report differs from the last one (agent:machine/beta)
00:35:00.000    37 supervisor/machines          machine/beta may be replaced again, because replacements were held back, or released (supervisor/machines)
00:35:00.000    38 machine/gamma                agent reported: DiskPressure healthy (changed); became healthy, because the report differs from the last one (agent:machine/gamma)
00:35:00.000    39 machine/alpha                agent reported: DiskPressure healthy (changed); became healthy, because the report differs from the last one (agent:machine/alpha)
00:35:00.000    40 supervisor/machines          machine/gamma may be replaced again, because replacements were held back, or released (supervisor/machines)
01:00:00.000     --- all providers behave from now on

converged after 3600.000 s: 40 entries, 1444 provider calls, 1 crashes, seed 32
  machine/alpha                    ready
  machine/beta                     ready
  machine/delta                    ready
  machine/epsilon                  ready
  machine/gamma                    ready
journal aa23ed392c4a9bf494bc2013215adcc695b52b6c4218cd7a4f9c1bad9de03174
