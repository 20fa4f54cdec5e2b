/* show_image.c: images into the output region.
 * SPDX-License-Identifier: Apache-2.0 */
#include "rooms/show_image.h"

#include "conf/limits.h"

#include <stdio.h>
#include <string.h>

/* A part of the output region of its own, so that a kill leaves it whole. */
void
show_image(struct shown *shown, struct output *output, struct span bytes)
{
	struct files_writer *writer = &shown->writer;
	char name[16];
	uint8_t *into;

	if (shown->n == 0)
		*writer = output_images(output);
	if (shown->n == RESULT_IMAGES_MAX || bytes.n > RESULT_IMAGE_BYTES) {
		writer->more = true;
	} else {
		(void)snprintf(name, sizeof(name), "%02u.png", shown->n + 1);
		(void)files_add(writer, span_of(name), bytes.n, &into);
		if (into)
			memcpy(into, bytes.p, bytes.n);
		shown->n++;
	}
	files_end(writer);
}
