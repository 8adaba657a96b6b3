00:00:00.000     1 node/journal                 created the journal (node)
00:00:00.000     2 policy/default               settings changed, because the settings differ from those in force (node)
00:00:00.000     --- an operator applies 7 declarations
00:00:00.000     3 node/requests                answered a request with 11 commands (operator)
00:00:00.000     4 machine/alpha                declared with provider simulated, 0 workloads; requested a new instance, because it was declared and has no instance yet (operator)
00:00:00.000     5 machine/beta                 declared with provider simulated, 0 workloads; requested a new instance, because it was declared and has no instance yet (operator)
00:00:00.000     6 machine/gamma                declared with provider simulated, 0 workloads; requested a new instance, because it was declared and has no instance yet (operator)
00:00:00.000     7 volume/data                  declared with 64M from provider simulated; asked the provider to create it, because it was declared and has no storage yet (operator)
00:00:00.000     8 volume/logs                  declared with 1G from provider simulated; asked the provider to create it, because it was declared and has no storage yet (operator)
00:00:00.000     9 machine/alpha                reserved an attachment for volume data, because a volume will be attached to it (operator)
00:00:00.000    10 volume/data                  reserved for machine alpha, because it will be attached to a machine (operator)
00:00:00.000    11 volume-attachment/alpha:data declared, because it was declared and waits for its machine and storage (operator)
00:00:00.000    12 machine/beta                 reserved an attachment for volume logs, because a volume will be attached to it (operator)
00:00:00.000    13 volume/logs                  reserved for machine beta, because it will be attached to a machine (operator)
00:00:00.000    14 volume-attachment/beta:logs  declared, because it was declared and waits for its machine and storage (operator)
00:00:00.017    15 volume/data                  provider created volume v-0006 of 64M, because the provider reported success (executor, after 7)
00:00:00.017    16 volume/logs                  provider created volume v-0007 of 1G, because the provider reported success (executor, after 8)
00:00:00.033    17 supervisor/machines          provider simulated reported: new instance i-0009 of machine/beta, new instance i-0008 of machine/alpha, new instance i-0010 of machine/gamma, because the list differs from the last one (supervisor/machines)
00:00:00.039    18 machine/alpha                provider created instance i-0008; has until 00:20:00.039 to become healthy, because the provider reported success (executor, after 4)
00:00:00.039    19 machine/beta                 provider created instance i-0009; has until 00:20:00.039 to become healthy, because the provider reported success (executor, after 5)
00:00:00.039    20 machine/gamma                provider created instance i-0010; has until 00:20:00.039 to become healthy, because the provider reported success (executor, after 6)
00:00:00.039    21 supervisor/storage           ordered volume-attachment/alpha:data: attach volume v-0006 to instance i-0008; ordered volume-attachment/beta:logs: attach volume v-0007 to instance i-0009, because the observed state requires it (supervisor/storage)
00:00:00.039    22 volume-attachment/beta:logs  requested attachment to instance i-0009, because its machine and storage are ready (supervisor/storage, after 21)
00:00:00.039    23 volume-attachment/alpha:data requested attachment to instance i-0008, because its machine and storage are ready (supervisor/storage, after 21)
00:00:00.071    24 volume-attachment/alpha:data provider attached it at /volumes/data, because the provider reported success (executor, after 23)
00:00:00.071    25 volume-attachment/beta:logs  provider attached it at /volumes/logs, because the provider reported success (executor, after 22)
00:00:10.000    26 machine/beta                 agent reported: DiskPressure healthy (changed); became healthy, because the report differs from the last one (agent:machine/beta)
00:00:10.000    27 machine/alpha                agent reported: DiskPressure healthy (changed); became healthy, because the report differs from the last one (agent:machine/alpha)
00:00:10.000    28 supervisor/storage           agents reported: volume logs is device sim-f35611c5 on machine beta, because the devices of machines changed (supervisor/storage)
00:00:10.000    29 machine/gamma                agent reported: DiskPressure healthy (changed); became healthy, because the report differs from the last one (agent:machine/gamma)
00:00:10.000    30 supervisor/storage           agents reported: volume data is device sim-41047bbb on machine alpha, because the devices of machines changed (supervisor/storage)
00:01:00.000     --- the instance of alpha dies
00:01:00.031    31 supervisor/machines          provider simulated reported: an instance stopped; told machine/alpha: instance is gone, because the list differs from the last one (supervisor/machines)
00:01:00.031    32 machine/alpha                instance lost; requested the deletion of its instance, because its instance is gone and the policy replaces it (supervisor/machines, after 31)
00:01:00.031    33 supervisor/storage           ordered volume-attachment/alpha:data: detach: the instance is going away, because the observed state requires it (supervisor/storage)
00:01:00.031    34 volume-attachment/alpha:data requested detachment, because the instance it was attached to is gone or being deleted (supervisor/storage, after 33)
00:01:00.058    35 volume-attachment/alpha:data provider detached it, because the provider reported success; it waits for its machine and storage again (executor, after 34)
00:01:00.071    36 machine/alpha                provider deleted the instance; requested a new instance, because the lost instance is cleaned up and can be replaced (executor, after 32)
00:01:00.102    37 machine/alpha                provider created instance i-0016; has until 00:21:00.102 to become healthy, because the provider reported success (executor, after 36)
00:01:00.102    38 supervisor/storage           ordered volume-attachment/alpha:data: attach volume v-0006 to instance i-0016, because the observed state requires it (supervisor/storage)
00:01:00.102    39 volume-attachment/alpha:data requested attachment to instance i-0016, because its machine and storage are ready (supervisor/storage, after 38)
00:01:00.129    40 volume-attachment/alpha:data provider attached it at /volumes/data, because the provider reported success (executor, after 39)
00:01:05.019    41 supervisor/machines          provider simulated reported: new instance i-0016 of machine/alpha, instance of machine/alpha missing, because the list differs from the last one (supervisor/machines)
00:01:10.000    42 machine/alpha                agent reported: DiskPressure healthy (changed); became healthy, because the report differs from the last one (agent:machine/alpha)
00:01:10.027    43 supervisor/machines          provider simulated reported: a missing instance was dropped, because the list differs from the last one (supervisor/machines)
00:02:00.000     --- the instance of beta vanishes
00:02:00.026    44 supervisor/machines          provider simulated reported: instance of machine/beta missing; told machine/beta: instance is gone, because the list differs from the last one (supervisor/machines)
00:02:00.026    45 machine/beta                 instance lost; requested the deletion of its instance, because its instance is gone and the policy replaces it (supervisor/machines, after 44)
00:02:00.026    46 supervisor/storage           ordered volume-attachment/beta:logs: detach: the instance is going away, because the observed state requires it (supervisor/storage)
00:02:00.026    47 volume-attachment/beta:logs  requested detachment, because the instance it was attached to is gone or being deleted (supervisor/storage, after 46)
00:02:00.055    48 volume-attachment/beta:logs  provider detached it, because the provider reported success; it waits for its machine and storage again (executor, after 47)
00:02:00.063    49 machine/beta                 provider deleted the instance; requested a new instance, because the lost instance is cleaned up and can be replaced (executor, after 45)
00:02:00.092    50 machine/beta                 provider created instance i-0021; has until 00:22:00.092 to become healthy, because the provider reported success (executor, after 49)
00:02:00.092    51 supervisor/storage           ordered volume-attachment/beta:logs: attach volume v-0007 to instance i-0021, because the observed state requires it (supervisor/storage)
00:02:00.092    52 volume-attachment/beta:logs  requested attachment to instance i-0021, because its machine and storage are ready (supervisor/storage, after 51)
00:02:00.116    53 volume-attachment/beta:logs  provider attached it at /volumes/logs, because the provider reported success (executor, after 52)
00:02:05.031    54 supervisor/machines          provider simulated reported: new instance i-0021 of machine/beta, a missing instance was dropped, because the list differs from the last one (supervisor/machines)
00:02:10.000    55 machine/beta                 agent reported: DiskPressure healthy (changed); became healthy, because the report differs from the last one (agent:machine/beta)

converged after 131.000 s: 55 entries, 731 provider calls, 0 crashes, seed 5
  machine/alpha                    ready
  machine/beta                     ready
  machine/gamma                    ready
  volume-attachment/alpha:data     attached
  volume-attachment/beta:logs      attached
  volume/data                      reserved
  volume/logs                      reserved
journal 9e09e988b3d4a74494d23f1affeabddc5cceb5bb93d703755d4a228bab6cbb14
