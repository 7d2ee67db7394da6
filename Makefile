# Hindsight: build, test and run. `make help` lists the targets.

VERSION := $(shell sed -n 's/.*HS_VERSION "\(.*\)"/\1/p' service/system/version.h)

CC       ?= cc
PREFIX   ?= /usr/local
SYSCONFDIR ?= /etc
DESTDIR  ?=
SANITIZE ?=
OPT      ?= -O2
CFLAGS   ?=
LDFLAGS  ?=

# Debian packages, by what needs them. `make deps` installs all groups but those for Arm and the browser; a
# target that lacks its group installs just that one.
PACKAGES_BUILD := gcc make pkg-config libc6-dev libmicrohttpd-dev libjansson-dev libcglm-dev \
                  nettle-dev libgnutls28-dev libcurl4-gnutls-dev zlib1g-dev \
                  libsqlite3-dev libzstd-dev libhiredis-dev libpq-dev libjemalloc-dev libjs-three libjs-chart.js
# The commands that README.md tells people to type; `make demo` and `make run` install them.
PACKAGES_README := curl jq
PACKAGES_EXAMPLE := python3
PACKAGES_TEST  := check libyaml-dev g++ libbullet-dev libembree-dev libsimdjson-dev openssl haproxy nginx redis-server \
                  postgresql prometheus $(PACKAGES_README) $(PACKAGES_EXAMPLE)
# A browser, and what steers it.
PACKAGES_CONSOLE := chromium chromium-driver python3-selenium
PACKAGES_ARM   := gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user
PACKAGES_DEPLOY := systemd groff-base strace haproxy nginx python3-yaml
PACKAGES_DEV   := clang-14 libclang-rt-14-dev clang-format-14 clang-tidy-14 valgrind

# One build folder a variant, so that a sanitizer build never mixes with another.
comma   := ,
VARIANT ?= $(if $(SANITIZE),$(subst $(comma),-,$(SANITIZE)),release)
B       := build/$(VARIANT)

ifeq ($(V),1)
Q :=
else
Q := @
MAKEFLAGS += --no-print-directory
endif
say = @printf '  %-7s %s\n' $(1) $(2)

WARN := -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wdouble-promotion -Wstrict-prototypes \
        -Wmissing-prototypes -Wvla -Wformat=2 -Wundef $(if $(WERROR),-Werror)
HARDEN := $(if $(SANITIZE),,-D_FORTIFY_SOURCE=2) -fstack-protector-strong
# -ffp-contract=off: a verdict is the same on machines with and without fused multiply-add.
BASE := -std=c11 -g $(OPT) -ffp-contract=off -fno-math-errno -I. $(WARN) $(HARDEN)
SAN  := $(if $(SANITIZE),-fsanitize=$(SANITIZE) -fno-sanitize-recover=all -fno-omit-frame-pointer)

# Answered only when something is compiled, so that `make deps` works before pkg-config exists.
PKGS      = libmicrohttpd gnutls jansson nettle libcurl zlib sqlite3 libzstd hiredis libpq
PKG_FLAGS = $(eval PKG_FLAGS := $$(shell pkg-config --cflags $(PKGS)))$(PKG_FLAGS)
PKG_LIBS  = $(eval PKG_LIBS := $$(shell pkg-config --libs $(PKGS)))$(PKG_LIBS)
# The allocator of the service: the memory of players lies in fewer pages than with malloc of the C library,
# so ticks wait less for memory (docs/performance.md). Sanitizers need theirs.
MALLOC_LIBS = $(if $(SANITIZE),,$(eval MALLOC_LIBS := $$(shell pkg-config --libs jemalloc))$(MALLOC_LIBS))
CHECK_LIBS = $(eval CHECK_LIBS := $$(shell pkg-config --libs check yaml-0.1))$(CHECK_LIBS)

# validators/ is plain C11 and the C library; the rest may use POSIX. Its objects also go into
# libhindsight.so and into plugins: they are position-independent, and what no public header
# declares is hidden. Calls inside the library stay direct.
CORE_FLAGS = $(BASE) -fPIC -fvisibility=hidden -fno-semantic-interposition $(SAN) $(CFLAGS)
EDGE_FLAGS = $(BASE) -fPIE -D_GNU_SOURCE -I$(B)/gen $(PKG_FLAGS) $(SAN) $(CFLAGS)
LINK_FLAGS = $(SAN) -pie -Wl,-z,relro,-z,now $(LDFLAGS)

# The sources of a layer, at every depth.
sources  = $(sort $(foreach depth,* */* */*/*,$(wildcard $(1)/$(depth).c)))
CORE_SRC := $(call sources,validators)
EDGE_SRC := $(call sources,api) $(call sources,service) $(filter-out cli/main.c,$(call sources,cli))
CORE_OBJ := $(CORE_SRC:%.c=$(B)/obj/%.o)
EDGE_OBJ := $(EDGE_SRC:%.c=$(B)/obj/%.o) $(B)/obj/gen/embedded.o
LIB      := $(B)/libhindsight.a
# Before 1.0 each minor version may break the binary interface, so the soname carries it.
SO_NAME  := libhindsight.so.$(basename $(VERSION))
SO       := $(B)/libhindsight.so.$(VERSION)
# The public headers: those for users of the library, and what they include.
HEADERS  := $(sort $(wildcard validators/*.h))
APP_LIB  := $(B)/libapp.a
PROG     := $(B)/hindsight

# Each test_*.c is one Check program; each bench_*.c one measuring program. The other files beside
# the tests, and those of tests/support, are linked where they are used.
TESTS     := $(wildcard $(addsuffix /*.c,tests/unit tests/unit/* tests/property tests/integration tests/cluster))
BENCHES   := $(filter-out tests/bench/open_load.c,$(wildcard tests/bench/*.c))
TEST_SRC  := $(foreach file,$(TESTS),$(if $(filter test_%,$(notdir $(file))),$(file)))
BENCH_SRC := $(wildcard tests/bench/bench_*.c)
SUP_SRC   := $(wildcard tests/support/*.c tests/support/*/*.c) \
             $(filter-out $(TEST_SRC) $(BENCH_SRC),$(TESTS) $(BENCHES))
SUP_OBJ   := $(SUP_SRC:%.c=$(B)/obj/%.o)
SUP_LIB   := $(B)/libtests.a
TEST_BIN  := $(TEST_SRC:tests/%.c=$(B)/tests/%)
BENCH_BIN := $(BENCH_SRC:tests/%.c=$(B)/tests/%)
# Needs other servers and takes minutes; `make test` leaves it out.
CLUSTER_BIN := $(filter %/cluster/test_cluster,$(TEST_BIN))
# What is compared with other libraries links them; nothing else does.
PARSER_OBJ := $(B)/obj/tests/peers/simdjson_peer.cpp.o
PEER_OBJ  := $(filter-out $(PARSER_OBJ),$(patsubst %,$(B)/obj/%.o,$(wildcard tests/peers/*.c tests/peers/*.cpp)))
PEER_BIN  := $(B)/tests/property/test_world_oracle $(B)/tests/bench/bench_hit $(B)/tests/bench/bench_world
# The example game server uses no code of the project, only HTTP.
GAME      := $(B)/example_game

EMBEDDED := openapi.yaml
# The console: its own files, and the libraries that it loads.
CONSOLE  := $(sort $(wildcard console/*)) /usr/share/javascript/three/three.module.js \
            /usr/share/javascript/three/examples/jsm/controls/OrbitControls.js \
            /usr/share/javascript/chart.js/chart.min.js

.PHONY: all run demo example test test-recipes test-contract test-console test-cluster test-bare check bench fuzz fuzz-long fuzz-readers nightly golden-arm lint \
        lint-deploy docs format install install-library uninstall dist clean help deps deps-build deps-readme \
        deps-example deps-test deps-dev deps-arm deps-console deps-deploy tests-build bench-build test-concurrent valgrind
.DEFAULT_GOAL := all
.SECONDARY:

all: $(PROG) ## build the service: build/hindsight
	$(if $(filter release,$(VARIANT)),@ln -sf release/hindsight build/hindsight)

# Pairs of doubles in one register make the exact test of a triangle slower: its reads then span two
# earlier writes.
$(B)/obj/validators/world/cast.o $(B)/obj/validators/geometry/triangle.o: CORE_FLAGS += -fno-tree-slp-vectorize

$(B)/obj/validators/%.o: validators/%.c
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(CC) $(CORE_FLAGS) -MMD -MP -c $< -o $@

$(B)/obj/%.o: %.c
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(CC) $(EDGE_FLAGS) -MMD -MP -c $< -o $@

# Files the program carries inside itself.
$(B)/gen/embedded.c: $(EMBEDDED) $(CONSOLE) scripts/embed.sh
	@mkdir -p $(@D)
	$(call say,EMBED,$@)
	$(Q)sh scripts/embed.sh $(EMBEDDED) -- $(CONSOLE) > $@.tmp && mv $@.tmp $@

$(B)/obj/gen/embedded.o: $(B)/gen/embedded.c
	@mkdir -p $(@D)
	$(Q)$(CC) $(EDGE_FLAGS) -c $< -o $@

$(LIB): $(CORE_OBJ)
	$(call say,AR,$@)
	$(Q)rm -f $@ && ar qcs $@ $^

# The list of exports: what the public headers declare is visible, all else is hidden.
$(B)/exports.map: $(LIB)
	$(Q){ echo 'HINDSIGHT_$(basename $(VERSION)) { global:'; readelf -sW $< | \
	    awk '$$5 == "GLOBAL" && $$6 == "DEFAULT" && $$7 != "UND" && $$8 ~ /^hs_/ { print $$8 ";" }' | LC_ALL=C sort; \
	    echo 'local: *; };'; } > $@.tmp && mv $@.tmp $@

$(SO): $(CORE_OBJ) $(B)/exports.map
	$(call say,LINK,$@)
	$(Q)$(CC) $(SAN) -shared -Wl,-soname,$(SO_NAME) -Wl,--version-script=$(B)/exports.map \
	    -Wl,-z,relro,-z,now $(LDFLAGS) $(CORE_OBJ) -lm -o $@

$(APP_LIB): $(EDGE_OBJ)
	$(call say,AR,$@)
	$(Q)rm -f $@ && ar qcs $@ $^

$(PROG): $(B)/obj/cli/main.o $(APP_LIB) $(LIB)
	$(call say,LINK,$@)
	$(Q)$(CC) $(LINK_FLAGS) $^ $(PKG_LIBS) $(MALLOC_LIBS) -lm -pthread -o $@

$(SUP_LIB): $(SUP_OBJ)
	$(call say,AR,$@)
	$(Q)rm -f $@ && ar qcs $@ $^

# There are 300 test programs, and gold links one in half the time.
TEST_LINKER := $(if $(shell command -v ld.gold),-fuse-ld=gold)
$(B)/tests/%: $(B)/obj/tests/%.o $(SUP_LIB) $(APP_LIB) $(LIB)
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(LINK_FLAGS) $(TEST_LINKER) -Wl,--wrap=_mark_point $^ $(CHECK_LIBS) $(PKG_LIBS) $(PEER_LIBS) -lm -pthread -o $@

# This test looks at the registry each time a lock is released.
$(B)/tests/unit/service/test_registry: LINK_FLAGS += -Wl,--wrap=pthread_mutex_unlock

# The program with calls that fail on demand (tests/support/faults.h), and the tests that run it.
WRAPPED := malloc calloc realloc aligned_alloc strdup write pwrite writev ftruncate posix_fallocate \
           fsync fdatasync rename renameat linkat open openat clock_gettime time
FAULTY_OBJ  := $(B)/obj/cli/main.o $(B)/obj/tests/faults/faults.o
FAULTY_PROG := $(PROG)-faults
$(FAULTY_PROG): $(FAULTY_OBJ) $(APP_LIB) $(LIB)
	$(call say,LINK,$@)
	$(Q)$(CC) $(LINK_FLAGS) $(WRAPPED:%=-Wl,--wrap=%) $^ $(PKG_LIBS) -lm -pthread -o $@

$(B)/tests/integration/test_library: | $(SO)
$(B)/tests/integration/test_memory_faults $(B)/tests/integration/test_file_faults $(B)/tests/integration/test_evidence_disk: | $(FAULTY_PROG)

# What the golden hashes need beside the library: the decoders and the player of scenarios. Other
# variants compile no more than that.
GOLDEN_SRC := $(call sources,api) $(addprefix cli/play/,track.c $(addprefix scenario/,expect.c file.c reference.c)) \
              $(addprefix tests/support/,random.c play/stage.c $(addprefix oracle/,golden.c golden_moves.c \
              offline.c all_scenarios.c))
$(B)/golden: $(patsubst %.c,$(B)/obj/%.o,tests/property/test_golden.c tests/support/run_suite.c $(GOLDEN_SRC)) \
             $(B)/obj/gen/embedded.o $(LIB)
	$(call say,LINK,$@)
	$(Q)$(CC) $(LINK_FLAGS) -Wl,--wrap=_mark_point $^ $(CHECK_LIBS) $(PKG_LIBS) -lm -pthread -o $@

$(PEER_BIN): $(PEER_OBJ)
$(PEER_BIN): PEER_LIBS = $(shell pkg-config --libs bullet) -lembree3 -lstdc++
# Without the library the bench says so. The peer gets the best that this processor can do.
$(B)/tests/bench/bench_body: $(PARSER_OBJ)
$(B)/tests/bench/bench_body: PEER_LIBS = $(shell pkg-config --silence-errors --libs simdjson) -lstdc++
$(PARSER_OBJ): PEER_FLAGS = -O3 -march=native

$(B)/obj/tests/peers/%.c.o: tests/peers/%.c
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(CC) $(EDGE_FLAGS) -MMD -MP -c $< -o $@

# Bullet's headers are not clean under the project's warnings: they count as the system's. No
# sanitizers: what they would find is not ours, and two compilers' do not mix.
$(B)/obj/tests/peers/%.cpp.o: tests/peers/%.cpp
	@mkdir -p $(@D)
	$(call say,CXX,$<)
	$(Q)$(CXX) -std=c++17 -g $(OPT) -DNDEBUG -I. -isystem /usr/include/bullet -Wall -Wextra -Wpedantic \
	    $(if $(WERROR),-Werror) $(HARDEN) $(PEER_FLAGS) -fPIE -MMD -MP -c $< -o $@

$(GAME): examples/game_server.c
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(filter-out -I%,$(EDGE_FLAGS)) $(LINK_FLAGS) $< $(shell pkg-config --libs libcurl jansson) -lm -o $@

$(B)/tests/integration/test_example: | $(GAME)

# A first run has the verdicts of the demo, so that the console has something to show.
run: deps-readme all ## the service in the foreground on 127.0.0.1:8080 (admin and console 127.0.0.1:9464)
	@[ -e hindsight-data ] || build/hindsight demo --data hindsight-data >/dev/null
	build/hindsight serve

demo: deps-readme all ## a match with honest players and cheaters, judged by a service started for it; KEEP=1: it stays up
	$(if $(KEEP),@rm -rf build/demo-data)
	build/hindsight demo $(if $(KEEP),--stay --data build/demo-data)

example: deps-example all $(GAME) ## the example game servers, C and Python; starts a service, or uses HINDSIGHT_URL
	@sh scripts/example.sh $(PROG) $(GAME)

RECIPES := $(B)/tests/integration/test_extending

test: tests-build ## the tests that need no root and no other server
	@sh tests/run.sh $(B) $(filter-out $(CLUSTER_BIN) $(RECIPES),$(TEST_BIN))

# This test builds a copy of the tree, which takes nearly two minutes of processor time.
test-recipes: tests-build ## the recipes of docs/extending.md, in a copy of the tree
	@sh tests/run.sh $(B) $(RECIPES)

test-cluster: tests-build ## failures of replicas, HAProxy, Redis and PostgreSQL under load, on loopback
	@sh tests/run.sh $(B) $(CLUSTER_BIN)

test-contract: deps-build deps-test all $(GAME) ## openapi.yaml by npm's tools: linters, generated clients, a validating proxy
	@sh tests/contract/run.sh $(PROG) $(GAME)

test-console: deps-build deps-console all ## the console in a headless Chromium: keys, views, reviews, contrast, no errors
	@sh tests/console/run.sh $(PROG)

test-bare: ## types README.md on a bare Debian 12; needs root and debootstrap
	@sh tests/bare.sh

tests-build: deps-build deps-test all $(TEST_BIN) ## build the tests without running them
bench-build: deps-build deps-test all $(BENCH_BIN) ## build the benches without running them

# The programs in which threads meet; meant for SANITIZE=thread.
CONCURRENT := $(filter %test_match_life %test_edge %test_edge_time %test_linger %test_overload %test_limits \
    %test_metrics %test_log %test_logging %test_observability %test_haproxy %test_replicas %test_http_fuzz %test_reload %test_golden \
    %test_record %test_line_queue %test_recheck %test_recheck_restarts %test_simulate %test_checkpoint %test_storm %test_tokens \
    %test_map_store %test_registry %test_work_budget %test_replays %test_memory %test_budget %test_kills %test_pool \
    %test_share %test_events %test_webhook %test_evidence_disk,$(TEST_BIN))
test-concurrent: deps-build deps-test all $(CONCURRENT) ## the concurrent tests alone
	@HS_CONCURRENT_ONLY=1 CK_FORK=no CK_TIMEOUT_MULTIPLIER=10 sh tests/run.sh $(B) $(CONCURRENT)

check: test ## the same as test

bench: deps-build deps-test all $(BENCH_BIN) ## measure; writes build/bench.jsonl
	@sh tests/bench/run.sh build/bench.jsonl $(BENCH_BIN)

FUZZ_SECONDS ?= 60
fuzz: deps-build deps-dev ## libFuzzer on every decoder, FUZZ_SECONDS in all (60)
	@sh tests/fuzz/run.sh $(FUZZ_SECONDS)

FUZZ_RUNS ?= 22000000
FUZZ_REQUESTS ?= 2000000
fuzz-long: deps-build deps-test deps-dev ## FUZZ_RUNS inputs (22 million) into the decoders, FUZZ_REQUESTS (2 million) over HTTP
	@sh tests/fuzz/long.sh $(FUZZ_RUNS) $(FUZZ_REQUESTS)

READER_RUNS ?= 100000000
fuzz-readers: deps-build deps-test $(B)/tests/fuzz/differential ## READER_RUNS posts (100 million) into both readers of JSON
	@seq $$(nproc) | xargs -P $$(nproc) -I SEED $(B)/tests/fuzz/differential \
	    $$(($(READER_RUNS) / $$(nproc) + 1)) SEED

nightly: deps-build deps-test deps-dev all $(TEST_BIN) ## the long runs
	@HS_ORACLE_CASES=10000000 HS_PROPERTY_CASES=500000 HS_HISTORY_OPERATIONS=5000000 \
	    HS_REFERENCE_CASES=5000 HS_MACHINE_CASES=20000 HS_FRAME_CASES=500 HS_CONTRACT_CASES=3000 \
	    HS_WORLD_CASES=100000 HS_TIMING_HOURS=20 HS_WALK_HOURS=10 HS_LINK_SESSIONS=60 HS_GROUP_FRAMES=3 HS_KILLS=1000 HS_SOAK_SECONDS=600 \
	    CK_TIMEOUT_MULTIPLIER=20 sh tests/run.sh $(B) $(filter-out $(CLUSTER_BIN),$(TEST_BIN))
	@HS_CLUSTER_MATCHES=240 HS_CLUSTER_SECONDS=20 $(MAKE) test-cluster
	@for seed in 4001 5001 6001; do \
	    $(PROG) simulate timing --hours 333 --runs 40 --seed $$seed --check || exit 1; done
	@$(PROG) simulate hits --claims 1000000 --bursts 1800 --cheats 40 --seed 2 --examples 64 --check
	@$(MAKE) fuzz-long
	@$(MAKE) fuzz-readers
	@$(MAKE) golden-arm
	@sh tests/bare.sh --with-tests

golden-arm: deps-build deps-arm ## the golden hashes on 64-bit Arm, under emulation
	@sh tests/arm/run.sh build/arm $(CORE_SRC) $(filter-out api/http/headers.c api/http/reply.c,$(GOLDEN_SRC))

valgrind: deps-build deps-test deps-dev all ## the scenario suite under valgrind
	@sh tests/valgrind.sh $(B)

lint: deps-build deps-test deps-dev $(B)/gen/embedded.c ## style and static analysis
	@PKG_FLAGS="$(PKG_FLAGS)" sh scripts/lint.sh

lint-deploy: deps-build deps-deploy all ## configurations of balancers, Kubernetes and compose, the unit and its sandbox, the man page, install, the image
	@sh scripts/lint_deploy.sh $(PROG)

docs: deps-test all $(B)/tests/unit/api/test_pages $(B)/tests/unit/service/test_metrics ## renew the lists of options, ruleset fields, checks, reasons and metrics in docs/ and the man page
	@sh scripts/docs.sh $(PROG)
	@HS_WRITE_PAGES=1 $(B)/tests/unit/api/test_pages
	@HS_WRITE_PAGES=1 $(B)/tests/unit/service/test_metrics

format: ## rewrite the sources in the project's style
	clang-format-14 -i $$(git ls-files '*.c' '*.h')

# Pages in folders, and configurations for other programs: installed under share/doc with these paths.
EXAMPLES := docs/integrate docs/lab docs/images $(filter-out deploy/systemd deploy/container,$(shell find deploy -mindepth 1 -type d ! -name tests))

install-library: $(LIB) $(SO) ## into DESTDIR/PREFIX: the library alone, static and shared
	install -d $(addprefix $(DESTDIR)$(PREFIX)/,lib/pkgconfig include/hindsight)
	install -m 644 $(LIB) $(DESTDIR)$(PREFIX)/lib/libhindsight.a
	install -m 755 $(SO) $(DESTDIR)$(PREFIX)/lib/
	ln -sf $(notdir $(SO)) $(DESTDIR)$(PREFIX)/lib/$(SO_NAME)
	ln -sf $(SO_NAME) $(DESTDIR)$(PREFIX)/lib/libhindsight.so
	install -m 644 $(HEADERS) $(DESTDIR)$(PREFIX)/include/hindsight/
	for package in hindsight hindsight-static; do \
	    sed 's|@PREFIX@|$(PREFIX)|; s|@VERSION@|$(VERSION)|' deploy/$$package.pc.in \
	        > $(DESTDIR)$(PREFIX)/lib/pkgconfig/$$package.pc || exit 1; \
	    chmod 644 $(DESTDIR)$(PREFIX)/lib/pkgconfig/$$package.pc; done

# The unit names the program and the configuration by the places they are installed to.
install: all install-library ## into DESTDIR/PREFIX: program, man page, unit, library; and DESTDIR/etc/hindsight if missing
	install -d $(addprefix $(DESTDIR)$(PREFIX)/,bin lib/systemd/system \
	    lib/sysusers.d share/man/man1 $(addprefix share/doc/hindsight/,docs/images $(EXAMPLES))) \
	    $(DESTDIR)$(SYSCONFDIR)/hindsight/rules
	install -m 755 $(PROG) $(DESTDIR)$(PREFIX)/bin/hindsight
	install -m 644 deploy/hindsight.1 $(DESTDIR)$(PREFIX)/share/man/man1/hindsight.1
	install -m 644 README.md CHANGELOG.md LICENSE openapi.yaml deploy/hindsight.json \
	    $(DESTDIR)$(PREFIX)/share/doc/hindsight/
	install -m 644 docs/*.md $(DESTDIR)$(PREFIX)/share/doc/hindsight/docs/
	install -m 644 docs/images/* $(DESTDIR)$(PREFIX)/share/doc/hindsight/docs/images/
	for folder in $(EXAMPLES); do find $$folder -maxdepth 1 -type f -exec \
	    install -m 644 -t $(DESTDIR)$(PREFIX)/share/doc/hindsight/$$folder {} + || exit 1; done
	install -m 644 deploy/compose.yaml $(DESTDIR)$(PREFIX)/share/doc/hindsight/deploy/
	sed 's|/usr/local/bin/|$(PREFIX)/bin/|; s|/etc/|$(SYSCONFDIR)/|' deploy/systemd/hindsight.service \
	    > $(DESTDIR)$(PREFIX)/lib/systemd/system/hindsight.service
	chmod 644 $(DESTDIR)$(PREFIX)/lib/systemd/system/hindsight.service
	install -m 644 deploy/systemd/hindsight.sysusers $(DESTDIR)$(PREFIX)/lib/sysusers.d/hindsight.conf
	[ -e $(DESTDIR)$(SYSCONFDIR)/hindsight/hindsight.json ] || \
	    { sed 's|"/etc/|"$(SYSCONFDIR)/|' deploy/hindsight.json > $(DESTDIR)$(SYSCONFDIR)/hindsight/hindsight.json && \
	    chmod 644 $(DESTDIR)$(SYSCONFDIR)/hindsight/hindsight.json; }

uninstall: ## remove what install put there, but no configuration
	rm -f $(addprefix $(DESTDIR)$(PREFIX)/,bin/hindsight share/man/man1/hindsight.1 \
	    $(addprefix lib/,libhindsight.a libhindsight.so $(SO_NAME) $(notdir $(SO))) \
	    lib/pkgconfig/hindsight.pc lib/pkgconfig/hindsight-static.pc lib/systemd/system/hindsight.service lib/sysusers.d/hindsight.conf)
	rm -rf $(DESTDIR)$(PREFIX)/include/hindsight $(DESTDIR)$(PREFIX)/share/doc/hindsight

dist: ## build/hindsight-VERSION.tar.gz from the committed tree
	@mkdir -p build
	git archive --format=tar.gz --prefix=hindsight-$(VERSION)/ -o build/hindsight-$(VERSION).tar.gz HEAD

clean: ## remove build/
	rm -rf build

deps: ## install the Debian packages that build, tests, linters and deployment use
	@sh scripts/deps.sh $(PACKAGES_BUILD) $(PACKAGES_TEST) $(PACKAGES_DEV) $(PACKAGES_DEPLOY)
deps-build:
	@sh scripts/deps.sh $(PACKAGES_BUILD)
deps-readme:
	@sh scripts/deps.sh $(PACKAGES_BUILD) $(PACKAGES_README)
deps-example:
	@sh scripts/deps.sh $(PACKAGES_BUILD) $(PACKAGES_EXAMPLE)
deps-test:
	@sh scripts/deps.sh $(PACKAGES_TEST)
deps-dev:
	@sh scripts/deps.sh $(PACKAGES_DEV)
deps-deploy:
	@sh scripts/deps.sh $(PACKAGES_DEPLOY)
deps-console:
	@sh scripts/deps.sh $(PACKAGES_CONSOLE)
deps-arm:
	@sh scripts/deps.sh $(PACKAGES_ARM)

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
	@echo '  variables: V=1 (show commands)  CC  CFLAGS  OPT (-O2)  SANITIZE=address,undefined  PREFIX  DESTDIR'

-include $(CORE_OBJ:.o=.d) $(EDGE_OBJ:.o=.d) $(SUP_OBJ:.o=.d) $(B)/obj/cli/main.d
-include $(PEER_OBJ:.o=.d) $(PARSER_OBJ:.o=.d) $(FAULTY_OBJ:.o=.d)
-include $(B)/obj/tests/fuzz/differential.d $(TEST_SRC:%.c=$(B)/obj/%.d) $(BENCH_SRC:%.c=$(B)/obj/%.d) $(B)/obj/tests/bench/open_load.d
