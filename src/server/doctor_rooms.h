/* doctor_rooms.h: each room is started as a server would, and asked.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef SERVER_DOCTOR_ROOMS_H
#define SERVER_DOCTOR_ROOMS_H

#include "conf/conf.h"
#include "server/doctor_report.h"

struct launcher;

/* Probes every room of conf and adds it to the report. This process gives up
 * reading files for it. 0: each room that was asked for by name, or without
 * names the default one, has the walls that it requires and its hello worked;
 * the number of the signal that ended it; negative otherwise. */
int doctor_rooms(
    const struct conf *conf, struct launcher *launcher, struct report *report);

#endif
