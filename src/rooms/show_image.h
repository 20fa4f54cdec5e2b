/* show_image.h: images that a program shows, on their way into the output
 * region.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef ROOMS_SHOW_IMAGE_H
#define ROOMS_SHOW_IMAGE_H

#include "base/buf.h"
#include "call/output.h"

struct shown {
	unsigned n; /* of this job; 0 at its beginning */
	struct files_writer writer;
};

/* Adds an image, or notes that there were more than are kept. */
void show_image(struct shown *shown, struct output *output, struct span bytes);

#endif
