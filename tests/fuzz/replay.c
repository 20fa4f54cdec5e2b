/* replay.c: a main for the fuzz targets where there is no libFuzzer: runs the
 * target once on each file named, or on each file of a folder named.
 * SPDX-License-Identifier: Apache-2.0 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static unsigned ran;

static void
replay_file(const char *path)
{
	FILE *file = fopen(path, "rb");
	long size;
	uint8_t *bytes;

	if (!file || fseek(file, 0, SEEK_END) != 0 ||
	    (size = ftell(file)) < 0) {
		perror(path);
		exit(1);
	}
	rewind(file);
	/* Exactly as large as the input: a sanitizer sees a read past it. */
	bytes = malloc(size ? (size_t)size : 1);
	if (!bytes || fread(bytes, 1, (size_t)size, file) != (size_t)size) {
		perror(path);
		exit(1);
	}
	(void)fclose(file);
	(void)LLVMFuzzerTestOneInput(bytes, (size_t)size);
	free(bytes);
	ran++;
}

static void
replay_folder(const char *path)
{
	DIR *folder = opendir(path);
	struct dirent *entry;
	char name[4096];

	if (!folder) {
		perror(path);
		exit(1);
	}
	while ((entry = readdir(folder))) {
		if (entry->d_name[0] == '.')
			continue;
		(void)snprintf(
		    name, sizeof(name), "%s/%s", path, entry->d_name);
		replay_file(name);
	}
	(void)closedir(folder);
}

int
main(int argc, char **argv)
{
	struct stat about;
	int i;

	for (i = 1; i < argc; i++) {
		if (stat(argv[i], &about) == 0 && S_ISDIR(about.st_mode))
			replay_folder(argv[i]);
		else
			replay_file(argv[i]);
	}
	printf("1..1\n%s 1 - %u inputs\n", ran ? "ok" : "not ok", ran);
	return ran ? 0 : 1;
}
