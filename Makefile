# SPDX-License-Identifier: GPL-2.0
#
# For people. Kbuild is what a kernel tree reads when this folder is part of it.
#
#   make                    modules for the running kernel, and the tool
#   make KDIR=...           for another kernel; KDIR=stock: the one the lab boots
#   make help               all targets

KDIR	?= /lib/modules/$(shell uname -r)/build
PREFIX	?= /usr/local
DESTDIR	?=
JOBS	?= $(shell nproc)
KERNEL	?= safety
MINUTES	?= 10

# An absolute path, so that no target depends on where make was called.
top	:= $(patsubst %/,%,$(dir $(realpath $(lastword $(MAKEFILE_LIST)))))
build	:= $(top)/build
python	:= /usr/bin/python3

MAKEFLAGS += --no-print-directory
.DEFAULT_GOAL := all
.PHONY: all modules tool demo check kunit lint lab soak packages install clean distclean help

all: tool modules ## the modules for KDIR and the tool (the default)

modules: ## the kernel modules for KDIR, in build/modules/
	@$(top)/scripts/build-modules --jobs $(JOBS) $(KDIR)

tool: ## the control tool, in build/tools/rblk
	@mkdir -p $(build)
	@cmake -S $(top)/tools/rblk -B $(build)/tools >$(build)/cmake.log 2>&1 || { cat $(build)/cmake.log; \
		echo "make: the tool cannot be configured; 'make packages' installs what it needs" >&2; exit 1; }
	@cmake --build $(build)/tools --target rblk --parallel $(JOBS)

demo: packages ## one machine's memory as another's disk, shown on two nodes
	@$(MAKE) -f $(top)/Makefile tool modules KDIR=stock
	@$(top)/scripts/demo

check: ## all tests; CHECK="--only lint,tool" picks parts
	@$(top)/scripts/check $(CHECK)

kunit: tool ## the KUnit suites, in both test kernels
	@$(top)/scripts/check --only kernel-lockdep,kernel-safety,kunit

lint: ## all static checks
	@$(top)/scripts/lint

lab: tool ## two nodes and a prompt, to try rblk on
	@$(top)/scripts/build-kernel safety >/dev/null
	@$(top)/scripts/lab shell

soak: tool ## all faults by chance for MINUTES, on KERNEL; SEED=n repeats one
	@if [ "$(KERNEL)" = stock ]; then $(top)/scripts/build-modules --jobs $(JOBS) stock; \
		else $(top)/scripts/build-kernel $(KERNEL) >/dev/null; fi
	@$(top)/scripts/soak $(MINUTES) --kernel $(KERNEL) $(if $(SEED),--seed $(SEED))

packages: ## install what building and testing needs (Debian, Ubuntu)
	@$(top)/scripts/install-packages

install: ## modules and tool onto this machine, or below DESTDIR
	@$(top)/scripts/build-modules --jobs $(JOBS) --install "$(DESTDIR)" $(KDIR)
	@test -x $(build)/tools/rblk || $(MAKE) -f $(top)/Makefile tool
	install -D -m 755 $(build)/tools/rblk $(DESTDIR)$(PREFIX)/bin/rblk

clean: ## remove what was built here, but not the kernels of the lab
	rm -rf $(build)/modules $(build)/modules-src $(build)/tools $(build)/relay $(build)/relay-check \
		$(build)/sequence $(build)/sequence-check $(build)/lint $(build)/check $(build)/cmake.log

distclean: clean ## remove build/ with the logs of all runs too
	rm -rf $(build)

help: ## this list
	@echo "Targets:"
	@sed -n 's/^\([a-z]*\):[^#]*## \(.*\)/\1\t\2/p' $(top)/Makefile | while IFS='	' read -r name text; do \
		printf '  %-10s %s\n' "$$name" "$$text"; done
	@echo "Variables:"
	@echo "  KDIR       a kernel's build folder, or stock, lockdep, safety (default: the running kernel's)"
	@echo "  PREFIX     where the tool goes (default: /usr/local)"
	@echo "  DESTDIR    put before every installed path"
	@echo "  JOBS       parallel compilers (default: one per CPU)"
	@echo "  MINUTES, KERNEL, SEED   of soak (default: 10, safety, by chance)"
