// SPDX-License-Identifier: GPL-2.0
/*
 * Sectors that say where they belong and when they were written, written through
 * odd vectors of memory and read back in another way, so that one byte in a wrong
 * place is seen: on the device, in the vectors, and in the memory between them.
 *
 *	rblk-pattern fill FILE START BYTES SECTOR GEN	write it, by page cache
 *	rblk-pattern check FILE START BYTES SECTOR GEN	read it, by page cache
 *	rblk-pattern offsets FILE START BYTES		each place in a page, many lengths
 *	rblk-pattern vectors FILE START BYTES ALIGN SEED ROUNDS	up to 1024 vectors at a time
 *	rblk-pattern borders FILE EXTENT		across extents, the first and the last sectors, beyond
 *	rblk-pattern memory BYTES ROUNDS		anonymous memory, for swap
 *
 * SECTOR is the number that the first sector carries. ALIGN is what addresses in
 * memory are multiples of. Prints what it did. Exit
 * code 0: all was right; 1: it could not be tried; 2: wrong data, or a transfer
 * that should have failed or been short.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#define SECTOR		512
#define WORDS		(SECTOR / 8)
#define PAGE		4096
#define MAX_VECTORS	1024
#define MAX_TRANSFER	(2 << 20)
#define CANARY		0xc5
#define ODD_CHUNK	61441	/* bytes of a read by page cache: no multiple of anything */

/* A part of a device and the generation that each of its sectors has. */
struct region {
	const char *path;
	int direct, cached;
	uint64_t first, sectors;	/* where it is */
	uint32_t *gen;
	uint32_t last_gen;
};

static char *arena;			/* where vectors lie */
static size_t arena_size;
static uint64_t random_state = 1;
static uint64_t transfers;

static void die(const char *what)
{
	fprintf(stderr, "rblk-pattern: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void __attribute__((noreturn, format(printf, 1, 2))) wrong(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fprintf(stderr, "rblk-pattern: ");
	vfprintf(stderr, format, args);
	fprintf(stderr, "\n");
	va_end(args);
	exit(2);
}

static uint64_t mix(uint64_t x)
{
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
	x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
	return x ^ (x >> 31);
}

/* From 0 to LIMIT - 1. */
static uint64_t below(uint64_t limit)
{
	random_state += 0x9e3779b97f4a7c15;
	return mix(random_state) % limit;
}

/* The first two words are to be read by people, the others find each displaced byte. */
static void make_sector(uint64_t *words, uint64_t sector, uint32_t gen)
{
	unsigned int i;

	words[0] = sector;
	words[1] = gen;
	for (i = 2; i < WORDS; i++)
		words[i] = mix((sector * WORDS + i) ^ ((uint64_t)gen << 40));
}

static void fill(void *to, uint64_t sector, uint64_t count, uint32_t gen)
{
	uint64_t words[WORDS];

	for (; count; count--, sector++, to = (char *)to + SECTOR) {
		make_sector(words, sector, gen);
		memcpy(to, words, SECTOR);
	}
}

static void compare(const void *data, uint64_t sector, uint32_t gen, const char *how)
{
	const unsigned char *is = data, *want;
	uint64_t words[WORDS], got[2];
	unsigned int i;

	make_sector(words, sector, gen);
	if (!memcmp(data, words, SECTOR))
		return;
	want = (unsigned char *)words;
	for (i = 0; is[i] == want[i]; i++)
		;
	memcpy(got, data, sizeof(got));
	wrong("%s: sector %llu generation %u differs at byte %u: %#x is not %#x; it begins as sector %llu generation %llu",
	      how, (unsigned long long)sector, gen, i, is[i], want[i], (unsigned long long)got[0], (unsigned long long)got[1]);
}

static int open_or_die(const char *path, int flags)
{
	int fd = open(path, flags | O_CLOEXEC);

	if (fd < 0)
		die(path);
	return fd;
}

/* What the page cache holds is written, and read anew afterwards. */
static void forget(int fd, uint64_t start, uint64_t bytes)
{
	if (fsync(fd))
		die("fsync");
	errno = posix_fadvise(fd, start, bytes, POSIX_FADV_DONTNEED);
	if (errno)
		die("fadvise");
}

/* By page cache, to an address and from positions that no vector has. */
static void read_cached(int fd, uint64_t start, uint64_t bytes, char *to)
{
	uint64_t done = 0;
	ssize_t got;

	forget(fd, start, bytes);
	while (done < bytes) {
		got = pread(fd, to + done, bytes - done < ODD_CHUNK ? bytes - done : ODD_CHUNK, start + done);
		if (got <= 0)
			die("read by page cache");
		done += got;
	}
}

static void verify(const struct region *region)
{
	uint64_t bytes = region->sectors * SECTOR, i;
	char *copy = malloc(bytes + 3);

	if (!copy)
		die("memory");
	read_cached(region->cached, region->first * SECTOR, bytes, copy + 3);
	for (i = 0; i < region->sectors; i++)
		if (region->gen[i])
			compare(copy + 3 + i * SECTOR, region->first + i, region->gen[i], "read by page cache");
	free(copy);
}

static void new_region(struct region *region, const char *path, uint64_t start, uint64_t bytes)
{
	region->path = path;
	region->direct = open_or_die(path, O_RDWR | O_DIRECT);
	region->cached = open_or_die(path, O_RDWR);
	region->first = start / SECTOR;
	region->sectors = bytes / SECTOR;
	region->gen = calloc(region->sectors, sizeof(*region->gen));
	region->last_gen = 0;
	if (!region->gen)
		die("memory");
}

static void end_region(struct region *region)
{
	verify(region);
	close(region->direct);
	close(region->cached);
	free(region->gen);
}

/* Write sectors by way of vectors, whose lengths are theirs together. */
static void write_vectors(struct region *region, const struct iovec *vecs, int count, uint64_t sector, int flags)
{
	uint64_t at = sector, bytes = 0;
	uint32_t gen = ++region->last_gen;
	ssize_t done;
	int i;

	memset(arena, CANARY, arena_size);
	for (i = 0; i < count; i++) {
		fill(vecs[i].iov_base, at, vecs[i].iov_len / SECTOR, gen);
		at += vecs[i].iov_len / SECTOR;
		bytes += vecs[i].iov_len;
	}
	done = pwritev2(region->direct, vecs, count, sector * SECTOR, flags);
	if (done < 0)
		die("write of vectors");
	if ((uint64_t)done != bytes)
		wrong("a write of %d vectors and %llu bytes wrote %zd", count, (unsigned long long)bytes, done);
	for (; sector < at; sector++)
		region->gen[sector - region->first] = gen;
	transfers++;
}

/* Read sectors by way of vectors; nothing but the vectors may have changed. */
static void read_vectors(const struct region *region, const struct iovec *vecs, int count, uint64_t sector)
{
	uint64_t bytes = 0, at = sector, n;
	ssize_t done;
	size_t i;
	int v;

	for (v = 0; v < count; v++)
		bytes += vecs[v].iov_len;
	memset(arena, CANARY, arena_size);
	done = preadv2(region->direct, vecs, count, sector * SECTOR, 0);
	if (done < 0)
		die("read of vectors");
	if ((uint64_t)done != bytes)
		wrong("a read of %d vectors and %llu bytes read %zd", count, (unsigned long long)bytes, done);
	for (v = 0; v < count; v++) {
		for (n = 0; n < vecs[v].iov_len / SECTOR; n++, at++)
			if (region->gen[at - region->first])
				compare((char *)vecs[v].iov_base + n * SECTOR, at, region->gen[at - region->first],
					"read by vectors");
		memset(vecs[v].iov_base, CANARY, vecs[v].iov_len);
	}
	for (i = 0; i < arena_size; i++)
		if ((unsigned char)arena[i] != CANARY)
			wrong("a read of %d vectors changed memory %zu bytes into a page, outside of them", count, i % PAGE);
	transfers++;
}

static void new_arena(size_t size)
{
	arena_size = size;
	arena = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (arena == MAP_FAILED)
		die("memory");
}

static void write_all(struct region *region)
{
	uint64_t step = MAX_TRANSFER / 2 / SECTOR, at = 0, count;
	struct iovec vec = { .iov_base = arena };

	for (; at < region->sectors; at += count) {
		count = region->sectors - at < step ? region->sectors - at : step;
		vec.iov_len = count * SECTOR;
		write_vectors(region, &vec, 1, region->first + at, 0);
	}
}

static uint64_t place_for(const struct region *region, uint64_t sectors)
{
	return region->first + below(region->sectors - sectors + 1);
}

/* One buffer that begins at each place of a page that the block layer lets through. */
static void offsets(const char *path, uint64_t start, uint64_t bytes)
{
	static const unsigned int lengths[] = { 1, 2, 7, 8, 9, 16, 129, 2040, 2047, 2048, 2049 };
	static const unsigned int fine[] = { 4, 508, 1020, 2044, 2564, 3076, 4088, 4092 };
	const unsigned int coarse = PAGE / SECTOR, places = coarse + sizeof(fine) / sizeof(*fine);
	struct region region;
	struct iovec vec;
	unsigned int i, l;
	uint64_t sector;

	new_arena(MAX_TRANSFER);
	new_region(&region, path, start, bytes);
	write_all(&region);
	for (i = 0; i < places; i++) {
		for (l = 0; l < sizeof(lengths) / sizeof(*lengths); l++) {
			sector = place_for(&region, lengths[l]);
			vec.iov_len = lengths[l] * SECTOR;
			vec.iov_base = arena + PAGE + (i < coarse ? i * SECTOR : fine[i - coarse]);
			write_vectors(&region, &vec, 1, sector, 0);
			vec.iov_base = arena + PAGE + below(PAGE / 4) * 4;
			read_vectors(&region, &vec, 1, sector);
			vec.iov_base = arena + PAGE + (i < coarse ? i * SECTOR : fine[i - coarse]);
			read_vectors(&region, &vec, 1, place_for(&region, lengths[l]));
		}
		verify(&region);
	}
	end_region(&region);
}

/*
 * Vectors that a request holds many of: the first ends with a page, the last
 * begins with one, and those between are pages. Returns the sectors.
 */
static uint64_t joined_vectors(struct iovec *vecs, int count)
{
	char *page = arena + PAGE;
	uint64_t sectors = 0, n;
	int i;

	for (i = 0; i < count; i++) {
		n = i && i < count - 1 ? PAGE / SECTOR : 1 + below(PAGE / SECTOR);
		vecs[i].iov_len = n * SECTOR;
		/* Never two in a row in memory, or they are one segment. */
		vecs[i].iov_base = page + (i ? 0 : PAGE - n * SECTOR);
		page += 2 * PAGE;
		sectors += n;
	}
	/* In any order in memory */
	for (i = 1; count > 3 && i < count - 1; i++) {
		int other = 1 + below(count - 2);
		void *base = vecs[i].iov_base;

		vecs[i].iov_base = vecs[other].iov_base;
		vecs[other].iov_base = base;
	}
	return sectors;
}

/* Vectors that lie anywhere, and must go in requests of their own. */
static uint64_t scattered_vectors(struct iovec *vecs, int count, uint64_t most, unsigned int align)
{
	uint64_t sectors = 0, n, longest = most / count > 17 ? 17 : most / count;
	int crossing = below(2), i;
	char *at = arena + PAGE;

	for (i = 0; i < count; i++) {
		n = 1 + 2 * below((longest + 1) / 2);
		if (crossing)	/* begins less than a sector before the end of a page */
			at = (char *)(((uintptr_t)at | (PAGE - 1)) + 1 + PAGE - align * (1 + below((SECTOR - 1) / align + 1)));
		else
			at += below(PAGE / align) * align;
		vecs[i].iov_base = at;
		vecs[i].iov_len = n * SECTOR;
		sectors += n;
		at += n * SECTOR + align;
	}
	return sectors;
}

static void vectors(const char *path, uint64_t start, uint64_t bytes, unsigned int align, uint64_t seed,
		    unsigned int rounds)
{
	static const int counts[] = { 1, 2, 3, 5, 15, 16, 17, 33, 127, 255, 256, 257, 258, 400, 1023, MAX_VECTORS };
	uint64_t used[sizeof(counts) / sizeof(*counts)] = { 0 }, sectors;
	static struct iovec vecs[MAX_VECTORS];
	struct region region;
	unsigned int i, which;
	int write;

	random_state = seed;
	new_arena(MAX_VECTORS * 3 * PAGE);
	new_region(&region, path, start, bytes);
	if (region.sectors < MAX_VECTORS * 8)
		wrong("a region of less than %d sectors", MAX_VECTORS * 8);
	write_all(&region);
	for (i = 0; i < rounds; i++) {
		for (write = 1; write >= 0; write--) {
			which = below(sizeof(counts) / sizeof(*counts));
			used[which]++;
			if (below(2))
				sectors = joined_vectors(vecs, counts[which]);
			else
				sectors = scattered_vectors(vecs, counts[which], region.sectors / 2, align);
			if (write)
				write_vectors(&region, vecs, counts[which], place_for(&region, sectors),
					      below(4) ? 0 : RWF_DSYNC);
			else
				read_vectors(&region, vecs, counts[which], place_for(&region, sectors));
		}
		if (i % 16 == 15)
			verify(&region);
	}
	end_region(&region);
	for (i = 0; rounds >= 100 && i < sizeof(counts) / sizeof(*counts); i++)
		if (!used[i])
			wrong("no transfer of %d vectors in %u rounds", counts[i], rounds);
}

static void expect(const char *what, ssize_t got, ssize_t want, int error)
{
	if (got != want || (got < 0 && errno != error))
		wrong("%s: %zd (%s) is not %zd (%s)", what, got, got < 0 ? strerror(errno) : "no error", want,
		      want < 0 ? strerror(error) : "no error");
}

/* Short where the device ends, nothing behind it. */
static void beyond(struct region *region, uint64_t size)
{
	uint32_t gen = ++region->last_gen;
	char *buffer = arena + PAGE;
	int fds[] = { region->direct, region->cached };
	unsigned int i;

	for (i = 0; i < 2; i++) {
		memset(arena, CANARY, arena_size);
		expect("write behind the end", pwrite(fds[i], buffer, SECTOR, size), -1, ENOSPC);
		expect("write far behind the end", pwrite(fds[i], buffer, PAGE, size + (1ULL << 40)), -1, ENOSPC);
		expect("read behind the end", pread(fds[i], buffer, PAGE, size), 0, 0);
		expect("read far behind the end", pread(fds[i], buffer, PAGE, size + (1ULL << 40)), 0, 0);
		fill(buffer, size / SECTOR - 1, 9, gen);
		expect("write across the end", pwrite(fds[i], buffer, 9 * SECTOR, size - SECTOR), SECTOR, 0);
		region->gen[region->sectors - 1] = gen;
		verify(region);
		memset(arena, CANARY, arena_size);
		expect("read across the end", pread(fds[i], buffer, PAGE, size - 3 * SECTOR), 3 * SECTOR, 0);
		compare(buffer + 2 * SECTOR, size / SECTOR - 1, gen, "read across the end");
		if ((unsigned char)buffer[3 * SECTOR] != CANARY)
			wrong("a read across the end gave more than there is");
		gen = ++region->last_gen;
	}
}

/* Around one place: requests that begin before it and end behind it, and such that touch it. */
static void border(const char *path, uint64_t place, uint64_t size)
{
	static const unsigned int parts[] = { 0, 1, 3, 8, 1025 };
	const unsigned int nr = sizeof(parts) / sizeof(*parts);
	uint64_t begin = place > MAX_TRANSFER / 2 ? place - MAX_TRANSFER / 2 : 0;
	uint64_t end = place + MAX_TRANSFER / 2 < size ? place + MAX_TRANSFER / 2 : size;
	struct region region;
	struct iovec vec;
	unsigned int i;
	uint64_t from, to;

	new_region(&region, path, begin, end - begin);
	write_all(&region);
	for (i = 0; i < nr * nr; i++) {
		from = place / SECTOR - parts[i % nr];
		to = place / SECTOR + parts[i / nr];
		if (place < parts[i % nr] * SECTOR || to > size / SECTOR || from == to)
			continue;
		vec.iov_base = arena + PAGE + below(PAGE / 4) * 4;
		vec.iov_len = (to - from) * SECTOR;
		write_vectors(&region, &vec, 1, from, 0);
		vec.iov_base = arena + PAGE + below(PAGE / 4) * 4;
		read_vectors(&region, &vec, 1, from);
	}
	if (place == size)
		beyond(&region, size);
	end_region(&region);
}

static void borders(const char *path, uint64_t extent)
{
	uint64_t size, place;
	int fd = open_or_die(path, O_RDONLY);

	if (ioctl(fd, BLKGETSIZE64, &size))
		die("size");
	close(fd);
	new_arena(MAX_TRANSFER);
	for (place = 0; place < size; place += extent)
		border(path, place, size);
	border(path, size, size);
}

/* Whole files and devices, by page cache. */
static void whole(const char *path, uint64_t start, uint64_t bytes, uint64_t sector, uint32_t gen, int write)
{
	int fd = open_or_die(path, write ? O_RDWR | O_CREAT : O_RDONLY);
	uint64_t done, count;
	char *buffer = malloc(MAX_TRANSFER + 3);

	if (!buffer)
		die("memory");
	for (done = 0; done < bytes; done += count) {
		count = bytes - done < MAX_TRANSFER ? bytes - done : MAX_TRANSFER;
		if (write) {
			fill(buffer + 3, sector + done / SECTOR, count / SECTOR, gen);
			if (pwrite(fd, buffer + 3, count, start + done) != (ssize_t)count)
				die("write");
			continue;
		}
		if (!done)
			forget(fd, start, bytes);
		if (pread(fd, buffer + 3, count, start + done) != (ssize_t)count)
			die("read");
		for (uint64_t i = 0; i < count / SECTOR; i++)
			compare(buffer + 3 + i * SECTOR, sector + done / SECTOR + i, gen, path);
	}
	if (write && fsync(fd))
		die("fsync");
	free(buffer);
	close(fd);
}

/* Memory that must go out and come back; in another order each time. */
static void memory(uint64_t bytes, unsigned int rounds)
{
	const unsigned int per_page = PAGE / SECTOR;
	uint64_t pages = bytes / PAGE, page, n;
	unsigned int round, i;

	new_arena(bytes);
	for (round = 1; round <= rounds; round++) {
		fill(arena, 0, pages * per_page, round);
		if (madvise(arena, bytes, MADV_PAGEOUT))
			die("madvise");
		for (n = 0; n < pages; n++) {
			/* Forwards, backwards, and in steps of a prime */
			page = round % 3 == 1 ? n : round % 3 == 2 ? pages - 1 - n : n * 4099 % pages;
			for (i = 0; i < per_page; i++)
				compare(arena + page * PAGE + i * SECTOR, page * per_page + i, round, "memory");
		}
	}
}

static uint64_t number(const char *text)
{
	char *end;
	uint64_t value = strtoull(text, &end, 0);

	if (*end || end == text) {
		errno = EINVAL;
		die(text);
	}
	return value;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	setvbuf(stdout, NULL, _IOLBF, 0);
	if ((!strcmp(what, "fill") || !strcmp(what, "check")) && argc == 7)
		whole(argv[2], number(argv[3]), number(argv[4]), number(argv[5]), number(argv[6]), *what == 'f');
	else if (!strcmp(what, "offsets") && argc == 5)
		offsets(argv[2], number(argv[3]), number(argv[4]));
	else if (!strcmp(what, "vectors") && argc == 8)
		vectors(argv[2], number(argv[3]), number(argv[4]), number(argv[5]), number(argv[6]), number(argv[7]));
	else if (!strcmp(what, "borders") && argc == 4)
		borders(argv[2], number(argv[3]));
	else if (!strcmp(what, "memory") && argc == 4)
		memory(number(argv[2]), number(argv[3]));
	else
		wrong("bad arguments");
	printf("%s: %llu transfers\n", what, (unsigned long long)transfers);
	return 0;
}
