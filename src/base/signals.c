/* signals.c: what a program inherits from whoever started it, undone.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/signals.h"

#include <signal.h>
#include <stddef.h>

void
signals_default(void)
{
	struct sigaction now;
	sigset_t none;

	/* No handler is inherited: what there is, a sanitizer has put. The
	 * numbers that the C library keeps for itself cannot be asked for. */
	for (int number = 1; number <= SIGRTMAX; number++)
		if (sigaction(number, NULL, &now) == 0 &&
		    now.sa_handler == SIG_IGN)
			(void)signal(number, SIG_DFL);
	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
}
