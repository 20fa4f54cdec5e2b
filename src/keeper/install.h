/* install.h: "breakroom-keeper install": makes the artifacts of this build
 * and machine from the guest's files, all of them or none.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef KEEPER_INSTALL_H
#define KEEPER_INSTALL_H

/* argv[0] is "install". Returns the exit status; says on stderr what it does
 * and, in the end, where the artifacts are. */
int install_main(int argc, char **argv);

#endif
