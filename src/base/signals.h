/* signals.h: what a program inherits from whoever started it, undone.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_SIGNALS_H
#define BASE_SIGNALS_H

/* Gives every ignored signal its default action, and blocks none. For the
 * first line of a main: both are inherited through exec, and while SIGCHLD is
 * ignored no end of a child is ever seen. */
void signals_default(void);

#endif
