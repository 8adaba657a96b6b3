00:00:00.000     1 node/journal                 created the journal (node)
00:00:00.000     2 policy/default               settings changed, because the settings differ from those in force (node)
00:00:00.000     --- provider simulated has the zones a, b, c
00:00:00.000     --- an operator applies 6 declarations
00:00:00.000     3 node/requests                answered a request with 8 commands (operator)
00:00:00.000     4 space/inner                  declared a space, because it was not declared before (operator)
00:00:00.000     5 application/shop             declared an application with units on 2 machines, 1 binding, because it was not declared before (operator)
00:00:00.000     6 machine/one                  declared with provider simulated, 0 workloads; requested a new instance, because it was declared and has no instance yet (operator)
00:00:00.000     7 machine/two                  declared with provider simulated, 0 workloads; requested a new instance, because it was declared and has no instance yet (operator)
00:00:00.000     8 machine/imaged               declared with provider simulated, 0 workloads; requested a new instance, because it was declared and has no instance yet (operator)
00:00:00.000     9 machine/plain                declared with provider simulated, 0 workloads; requested a new instance, because it was declared and has no instance yet (operator)
00:00:00.000    10 machine/one                  unit of application shop assigned, because an application needs a unit on it (operator)
00:00:00.000    11 machine/two                  unit of application shop assigned, because an application needs a unit on it (operator)
00:00:00.000    12 supervisor/machines          ordered machine/imaged: delay the start: no image for ubuntu@22.04/stable, amd64, stream released; ordered machine/one: delay the start: space inner has no subnet; ordered machine/two: delay the start: space inner has no subnet, because the observed state requires it (supervisor/machines)
00:00:00.000    13 machine/imaged               cannot start yet: no image for ubuntu@22.04/stable, amd64, stream released, because something it needs to start is missing (supervisor/machines, after 12)
00:00:00.000    14 machine/two                  cannot start yet: space inner has no subnet, because something it needs to start is missing (supervisor/machines, after 12)
00:00:00.000    15 machine/one                  cannot start yet: space inner has no subnet, because something it needs to start is missing (supervisor/machines, after 12)
00:00:00.019    16 machine/plain                provider created instance i-0002; has until 00:20:00.019 to become healthy, because the provider reported success (executor, after 9)
00:00:00.021    17 supervisor/machines          provider simulated reported zone a, zone b, zone c, because the provider's zones changed (supervisor/machines)
00:00:05.039    18 supervisor/machines          provider simulated reported: new instance i-0002 of machine/plain, because the list differs from the last one (supervisor/machines)
00:00:10.000    19 machine/plain                agent reported: DiskPressure healthy (changed); became healthy, because the report differs from the last one (agent:machine/plain)
00:05:00.000     --- an operator applies 1 declaration
00:05:00.000    20 node/requests                answered a request with 1 command (operator)
00:05:00.000    21 subnet/inner-ab              declared subnet 10.0.1.0/24 in space inner, zones a, b, because it was not declared before (operator)
00:05:00.000    22 supervisor/machines          ordered machine/one: start with space inner (from application/shop revision 1 and 2 documents more); ordered machine/two: start with space inner (from application/shop revision 1 and 2 documents more), because the observed state requires it (supervisor/machines)
00:05:00.000    23 machine/one                  starts with space inner (from application/shop revision 1 and 2 documents more), because everything it needs to start is there (supervisor/machines, after 22)
00:05:00.000    24 machine/two                  starts with space inner (from application/shop revision 1 and 2 documents more), because everything it needs to start is there (supervisor/machines, after 22)
00:05:00.000    25 supervisor/machines          ordered machine/one: create in zone a; ordered machine/two: create in zone b, because the observed state requires it (supervisor/machines)
00:05:00.000    26 machine/one                  will be created in zone a, because the zone for its instance was chosen (supervisor/machines, after 25)
00:05:00.000    27 machine/two                  will be created in zone b, because the zone for its instance was chosen (supervisor/machines, after 25)
00:05:00.023    28 machine/one                  provider created instance i-0005; has until 00:25:00.023 to become healthy, because the provider reported success (executor, after 26)
00:05:00.023    29 machine/two                  provider created instance i-0006; has until 00:25:00.023 to become healthy, because the provider reported success (executor, after 27)
00:05:05.025    30 supervisor/machines          provider simulated reported: new instance i-0005 of machine/one, new instance i-0006 of machine/two, because the list differs from the last one (supervisor/machines)
00:05:10.000    31 machine/one                  agent reported: DiskPressure healthy (changed); became healthy, because the report differs from the last one (agent:machine/one)
00:05:10.000    32 machine/two                  agent reported: DiskPressure healthy (changed); became healthy, because the report differs from the last one (agent:machine/two)
00:06:00.000     --- the node is killed
00:06:00.000     --- crash (now)
00:06:00.000    33 node/journal                 opened the journal after an unclean stop (start 2) (node)
00:10:00.000     --- an operator applies 1 declaration
00:10:00.000    34 node/requests                answered a request with 1 command (operator)
00:10:00.000    35 image-metadata/jammy         declared image ami-1 for ubuntu@22.04/stable, amd64, stream released, because it was not declared before (operator)
00:10:00.000    36 supervisor/machines          ordered machine/imaged: start with image ami-1 (from image-metadata/jammy revision 1), because the observed state requires it (supervisor/machines)
00:10:00.000    37 machine/imaged               starts with image ami-1 (from image-metadata/jammy revision 1), because everything it needs to start is there (supervisor/machines, after 36)
00:10:00.026    38 supervisor/machines          provider simulated reported: new instance i-0008 of machine/imaged, because the list differs from the last one (supervisor/machines)
00:10:00.027    39 machine/imaged               provider created instance i-0008; has until 00:30:00.027 to become healthy, because the provider reported success (executor, after 37)
00:10:10.000    40 machine/imaged               agent reported: DiskPressure healthy (changed); became healthy, because the report differs from the last one (agent:machine/imaged)

converged after 611.000 s: 40 entries, 723 provider calls, 1 crashes, seed 31
  machine/imaged                   ready
  machine/one                      ready
  machine/plain                    ready
  machine/two                      ready
journal 095586f354b14b1c78c42d712fd22d4c916798e71e22d2f7cb33cb9860045754
