/* mqtt: publishes one message to a broker by MQTT 3.1.1: CONNECT, PUBLISH, DISCONNECT. */
#ifndef SONDE_LAUNCH_MQTT_H
#define SONDE_LAUNCH_MQTT_H

#include "base/err.h"

#include <stddef.h>

struct mqtt_message {
	const char *broker; /* HOST:PORT */
	const char *topic;
	const void *body;
	size_t bytes;
	int qos;      /* 0, or 1: wait for the broker's acknowledgement */
	long timeout; /* seconds for each step */
};

int mqtt_publish(const struct mqtt_message *m, struct sonde_err *err);

#endif
