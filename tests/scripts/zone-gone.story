00:00:00.000     1 node/journal                 created the journal (node)
00:00:00.000     2 policy/default               settings changed, because the settings differ from those in force (node)
00:00:00.000     --- an operator applies 3 declarations
00:00:00.000     3 node/requests                answered a request with 3 commands (operator)
00:00:00.000     4 machine/alpha                declared with provider simulated, 0 workloads; requested a new instance, because it was declared and has no instance yet (operator)
00:00:00.000     5 machine/beta                 declared with provider simulated, 0 workloads; requested a new instance, because it was declared and has no instance yet (operator)
00:00:00.000     6 machine/gamma                declared with provider simulated, 0 workloads; requested a new instance, because it was declared and has no instance yet (operator)
00:00:00.020     7 supervisor/machines          provider simulated reported: new instance i-0004 of machine/alpha, new instance i-0006 of machine/gamma, new instance i-0005 of machine/beta, because the list differs from the last one (supervisor/machines)
00:00:00.027     8 machine/alpha                provider created instance i-0004; has until 00:20:00.027 to become healthy, because the provider reported success (executor, after 4)
00:00:00.027     9 machine/beta                 provider created instance i-0005; has until 00:20:00.027 to become healthy, because the provider reported success (executor, after 5)
00:00:00.027    10 machine/gamma                provider created instance i-0006; has until 00:20:00.027 to become healthy, because the provider reported success (executor, after 6)
00:00:10.000    11 machine/alpha                agent reported: DiskPressure healthy (changed); became healthy, because the report differs from the last one (agent:machine/alpha)
00:00:10.000    12 machine/gamma                agent reported: DiskPressure healthy (changed); became healthy, because the report differs from the last one (agent:machine/gamma)
00:00:10.000    13 machine/beta                 agent reported: DiskPressure healthy (changed); became healthy, because the report differs from the last one (agent:machine/beta)
00:05:00.000     --- the instance of alpha vanishes
00:05:00.000     --- the instance of beta vanishes
00:05:00.000     --- the instance of gamma vanishes
00:05:00.030    14 supervisor/machines          provider simulated reported: instance of machine/alpha missing, instance of machine/gamma missing, instance of machine/beta missing; did not replace machine/alpha: all machines in zone a are silent; did not replace machine/beta: all machines in zone a are silent; did not replace machine/gamma: all machines in zone a are silent, because the list differs from the last one (supervisor/machines)
00:05:35.000    15 machine/alpha                no health report since 00:04:50.000; its health reports stopped; it will be given up at 00:15:35.000 unless it recovers, because there was no health report for longer than the policy allows (supervisor/machines)
00:05:35.000    16 machine/beta                 no health report since 00:04:50.000; its health reports stopped; it will be given up at 00:15:35.000 unless it recovers, because there was no health report for longer than the policy allows (supervisor/machines)
00:05:35.000    17 machine/gamma                no health report since 00:04:50.000; its health reports stopped; it will be given up at 00:15:35.000 unless it recovers, because there was no health report for longer than the policy allows (supervisor/machines)
00:15:35.000    18 machine/alpha                its time ran out: its health reports stopped, because it did not become healthy in time, and its supervisor decides what happens next (schedule)
00:15:35.000    19 machine/beta                 its time ran out: its health reports stopped, because it did not become healthy in time, and its supervisor decides what happens next (schedule)
00:15:35.000    20 machine/gamma                its time ran out: its health reports stopped, because it did not become healthy in time, and its supervisor decides what happens next (schedule)
01:00:00.000     --- an operator retries everything that was given up
01:00:00.000    21 node/requests                answered a request with 3 commands (operator)
01:00:00.000    22 machine/alpha                gave up the instance: its health reports stopped; requested the deletion of its instance, because an operator requested a retry (operator)
01:00:00.000    23 machine/beta                 gave up the instance: its health reports stopped; requested the deletion of its instance, because an operator requested a retry (operator)
01:00:00.000    24 machine/gamma                gave up the instance: its health reports stopped; requested the deletion of its instance, because an operator requested a retry (operator)
01:00:00.000    25 supervisor/machines          machine/alpha may be replaced again; machine/beta may be replaced again; machine/gamma may be replaced again, because replacements were held back, or released (supervisor/machines)
01:00:00.019    26 machine/alpha                provider deleted the instance; requested a new instance, because the lost instance is cleaned up and can be replaced (executor, after 22)
01:00:00.019    27 machine/beta                 provider deleted the instance; requested a new instance, because the lost instance is cleaned up and can be replaced (executor, after 23)
01:00:00.019    28 machine/gamma                provider deleted the instance; requested a new instance, because the lost instance is cleaned up and can be replaced (executor, after 24)
01:00:00.023    29 supervisor/machines          provider simulated reported: 3 missing instances dropped, because the list differs from the last one (supervisor/machines)
01:00:00.043    30 machine/alpha                provider created instance i-0013; has until 01:20:00.043 to become healthy, because the provider reported success (executor, after 26)
01:00:00.043    31 machine/beta                 provider created instance i-0014; has until 01:20:00.043 to become healthy, because the provider reported success (executor, after 27)
01:00:00.043    32 machine/gamma                provider created instance i-0015; has until 01:20:00.043 to become healthy, because the provider reported success (executor, after 28)
01:00:05.022    33 supervisor/machines          provider simulated reported: new instance i-0014 of machine/beta, new instance i-0013 of machine/alpha, new instance i-0015 of machine/gamma, because the list differs from the last one (supervisor/machines)
01:00:10.000    34 machine/beta                 agent reported: DiskPressure healthy (changed); became healthy, because the report differs from the last one (agent:machine/beta)
01:00:10.000    35 machine/alpha                agent reported: DiskPressure healthy (changed); became healthy, because the report differs from the last one (agent:machine/alpha)
01:00:10.000    36 machine/gamma                agent reported: DiskPressure healthy (changed); became healthy, because the report differs from the last one (agent:machine/gamma)
02:00:00.000     --- an operator retries everything that was given up
03:00:00.000     --- all providers behave from now on

converged after 10800.000 s: 36 entries, 2883 provider calls, 0 crashes, seed 34
  machine/alpha                    ready
  machine/beta                     ready
  machine/gamma                    ready
journal c7ef81c1e20c4e5eaf256dc2a6407e2a018f83d492c70b7db784756dd58ff001
