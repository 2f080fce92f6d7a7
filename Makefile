# Two commands matter: make demo, make test. The rest is for those who work on
# company itself. Recipes are thin: what is long lives in scripts/.
.DEFAULT_GOAL := help
GO ?= go
SOURCES := ./...
# The program is linked statically (DST-1), and tests without the race detector share its build.
export CGO_ENABLED = 0

.PHONY: help
help: ## show this
	@awk -F ':.*## ' '/^[a-z\/]+:.*## / {printf "  make %-16s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: setup
setup: ## install and start what is missing (Docker, git, mmdebstrap)
	@scripts/setup.sh

.PHONY: toolbox
toolbox: ## the program that runs inside workers, to be embedded
	@scripts/build-toolbox.sh

.PHONY: build
build: toolbox ## bin/company
	$(GO) build -ldflags="-s -w" -o bin/company ./cmd/company

# Where install puts the program: a user's own folder, or the machine's.
PREFIX ?= $(if $(filter 0,$(shell id -u)),/usr/local,$(HOME)/.local)

.PHONY: install
install: toolbox ## the program, man pages and completions below $(PREFIX)
	@PREFIX="$(PREFIX)" DESTDIR="$(DESTDIR)" scripts/install.sh install
	@case ":$$PATH:" in *":$(PREFIX)/bin:"*) ;; *) echo "put $(PREFIX)/bin into PATH to call it company";; esac

.PHONY: uninstall
uninstall: ## remove what make install put below $(PREFIX)
	@PREFIX="$(PREFIX)" DESTDIR="$(DESTDIR)" scripts/install.sh uninstall

.PHONY: demo
demo: setup build ## watch a company do a small job, then check that it did (WATCH=1: on its page, which stays)
	@scripts/demo.sh

# Under the race detector: everything that has goroutines or locks. The core and the
# other packages of ALONE have none, and what lies in test/ reads sources or drives
# programs that are built without it; test/archtest's tests of surfaces start a server,
# and are named. Those that take longest begin first, so that no core waits for them at
# the end. make lint has vet look at all of it, so the tests do not once more.
#
# Half of them wait for disks and containers now and then: more run at once than there are
# processors.
#
# UNRACED are packages with tests that are not raced (hosttest.NotRaced): these run without
# it by themselves. Most of internal/container/image is such, by its helper, and runs whole once more.
# test/archtest holds all of this complete.
FIRST = company/internal/gates company/internal/agentrun/sandbox company/internal/container/image
UNRACED = company/internal/adapters/anthropic company/internal/adapters/ollama company/internal/adapters/openai \
	company/internal/agent company/internal/app company/tools/bench company/internal/lib/boundedparse \
	company/internal/lib/boundedparse/bash company/internal/lib/boundedparse/yaml company/internal/bus/file \
	company/internal/bus/localfiles company/internal/surface/cli company/internal/office/config company/internal/ecosystem/depproxy \
	company/internal/ecosystem/cc company/internal/ecosystem/golang company/internal/ecosystem/python \
	company/internal/delivery/secretscan company/internal/ledger company/internal/surface/tui
ALONE = company/internal/lib/boundedparse/docker company/internal/company company/internal/ecosystem/ciconfig company/internal/company/historytest \
	company/internal/container/docker/seccomp company/internal/delivery company/internal/container/dockerfile \
	company/internal/ecosystem/berry company/internal/ecosystem/catalog company/internal/ecosystem/debian \
	company/internal/ecosystem/java company/internal/ecosystem/makefile company/internal/ecosystem/node \
	company/internal/ecosystem/php company/internal/ecosystem/pnpm \
	company/internal/ecosystem/ruby company/internal/ecosystem/yarn company/internal/company/glob company/internal/lib/healthcheck \
	company/internal/lib/hosttest company/internal/container/image/toolboxbin company/internal/manager \
	company/internal/delivery/prbody company/internal/reviewer company/internal/lib/safetext \
	company/internal/lib/secret company/internal/container/service company/internal/app/startup company/internal/worker
WITHOUT = -e company/test/goroutines -e company/test/mutants -e company/test/safebuffer -e company/test/together
RACY = $(FIRST) $$($(GO) list ./cmd/... ./internal/... ./tools/... ./test/goroutines ./test/mutants ./test/safebuffer ./test/together | grep -vx $(ALONE:%=-e %) $(FIRST:%=-e %))
CALM = company/test/e2e company/internal/container/image $(ALONE) $$($(GO) list ./test/... | grep -vx $(WITHOUT) -e company/test/e2e)

# Of long tests that are many alike (hosttest.Sampled) a fifth runs, which the commit draws; all
# with SAMPLE= or where there is no commit.
SAMPLE = $(addprefix 5 ,$(shell git rev-parse --short=7 HEAD 2>/dev/null))

.PHONY: test
test: export COMPANY_TEST_SAMPLE = $(SAMPLE)
test: setup build ## every test; of projects and clients one of each kind (make variants: more)
	@scripts/setup.sh test
	CGO_ENABLED=1 $(GO) test -vet=off -race -p $$(($$(nproc) * 3 / 2)) -timeout 60m $(RACY)
	CGO_ENABLED=1 $(GO) test -vet=off -race -run TestSurface ./test/archtest
	@GO="$(GO)" scripts/test-unraced.sh $(UNRACED)
	$(GO) test -vet=off -timeout 60m $(CALM)

.PHONY: test/racy
test/racy: ## the packages that make test runs under the race detector
	@echo $(RACY)

.PHONY: test/calm
test/calm: ## the packages that make test runs without it
	@echo $(CALM)

.PHONY: test/unraced
test/unraced: ## the packages of which it runs some tests without it
	@echo $(UNRACED)

.PHONY: test/race
test/race: setup build ## every test under the race detector
	CGO_ENABLED=1 $(GO) test -race -timeout 60m $(SOURCES)

.PHONY: test/short
test/short: ## the tests that need no Docker and do not take long
	@GO="$(GO)" scripts/test-short.sh $(SOURCES)

.PHONY: variants
variants: setup build ## more of the kinds that make test has one of: clients, versions, moments of a kill (PARTS=20: the twentieth that the commit draws, as CI)
	@scripts/setup.sh test
	@GO="$(GO)" scripts/variants.sh $(if $(PARTS),-parts $(PARTS))

.PHONY: variants/all
variants/all: setup build ## those, and the ones that take longest: projects of others, 1,000 seeds, the bench of packages
	@scripts/setup.sh test
	@GO="$(GO)" scripts/variants.sh -all

.PHONY: records
records: setup build ## the stored records that end-to-end tests play, made anew (after a change of prompts or tools)
	@scripts/setup.sh test
	COMPANY_TEST_VARIANTS=1 $(GO) test ./test/e2e -run '^(TestConflictResolved|TestBadMemberIsFound)$$' -count=1 -timeout 20m -args -update-records

.PHONY: tokens
tokens: setup build ## the tokens that end-to-end tests pin, made anew (after a change of prompts or tools that is meant to cost more)
	@scripts/setup.sh test
	COMPANY_TEST_VARIANTS=1 $(GO) test ./test/e2e -run '^TestBenchWork(Recorded|Tokens|TokensOfAll)$$' -count=1 -timeout 20m -args -update-tokens

.PHONY: count
count: ## the size, structure and names of this tree in numbers; BEFORE=COMMIT puts an earlier one beside it
	@$(GO) run ./test/count . $(BEFORE:%=@%)

.PHONY: prose
prose: ## how comments and documents read in numbers, beside three models (Go modules, which are downloaded)
	@$(GO) run ./test/count -prose . $(BEFORE:%=@%) $(MODELS)

MODELS = github.com/riverqueue/river@v0.51.2 github.com/restic/restic@v0.18.0 github.com/cli/cli/v2@v2.60.0

.PHONY: hooks
hooks: ## let git test what is staged before it commits (scripts/hooks)
	git config core.hooksPath scripts/hooks

.PHONY: interrupts
interrupts: setup build ## end the company at 300 moments of its work, in every way, and let it go on
	$(GO) test ./internal/agentrun/sandbox -run TestInterruptedWork -count=1 -timeout 2h -args -every
	$(GO) test ./test/e2e -run 'TestInterrupts$$' -count=1 -timeout 5h -args -moments 300 -seed $${SEED:-1}

.PHONY: storm
storm: ## 5,000 crashes of the file driver's disk (SEED=1, N=5000), 500 kills of a process on each driver (KILLS=500), their suites, 5,000 attacks on stored files, and 1,000 histories under the office's caps
	$(GO) test ./internal/bus/file -run 'TestStorm$$' -count=1 -timeout 30m -v -args -crashes $${N:-5000} -seed $${SEED:-1}
	$(GO) test ./internal/bus/file ./internal/bus/nats -run 'TestKillStorm$$' -count=1 -timeout 60m -v -args -crashes $${KILLS:-500} -seed $${SEED:-1}
	$(GO) test ./internal/bus/... -count=1 -timeout 30m
	$(GO) test ./internal/upkeep -run 'TestAttackedStore$$' -count=1 -timeout 30m -v -args -attacks $${N:-5000} -attack-seed $${SEED:-1}
	COMPANY_TEST_VARIANTS=all $(GO) test ./internal/company -run 'TestManyHistoriesStayUnderOfficeCaps$$' -count=1 -timeout 30m

.PHONY: mutants
mutants: ## break the core and its checker on purpose: the named mutants and a sample of each (SEED=1, N=400)
	@$(GO) run ./test/mutants -seed $${SEED:-1} -n $${N:-400} -most 23
	@$(GO) run ./test/mutants -package internal/company/historytest -seed $${SEED:-1} -n $${N:-400} -most 5

.PHONY: strangers
strangers: setup build ## the company on N=20 repositories that SEED=1 and the commit draw; writes docs/strangers.md (PREPARE=1: only find them and keep them; RESUME=1 COMMIT=id: go on; AGAIN=1: a second walk)
	@scripts/setup.sh test
	$(GO) test ./test/strangers -run 'TestDraw$$' -count=1 -timeout 8h -v -args -draw $${SEED:-1} -cases $${N:-20} -draw-table docs/strangers.md $(if $(PREPARE),-prepare) $(if $(RESUME),-resume) $(if $(AGAIN),-again) $(if $(COMMIT),-draw-commit $(COMMIT))

.PHONY: strangers/lists
strangers/lists: ## the frozen lists that draws are made from, made anew: draws of old commits change
	$(GO) run ./test/strangers/makelists test/strangers/lists

.PHONY: strangers/pinned
strangers/pinned: setup build ## the company on the fixed list of repositories; writes docs/strangers-pinned.md (RESUME=1: go on)
	@scripts/setup.sh test
	$(GO) test ./test/strangers -run TestStrangers -count=1 -timeout 3h -args -all -table docs/strangers-pinned.md $(if $(RESUME),-resume)

.PHONY: strangers/gitea
strangers/gitea: ## the Gitea driver against a real Gitea, built from its module; writes docs/gitea.md
	dir=$$(scripts/build-gitea.sh) && $(GO) test ./internal/forge/gitea -run TestForge -count=1 -timeout 30m -args -gitea "$$dir" -table "$(CURDIR)/docs/gitea.md"

.PHONY: strangers/ollama
strangers/ollama: setup build ## the company against a real Ollama server, built from its module; writes docs/ollama.md
	@scripts/strangers-ollama.sh

.PHONY: fuzz
fuzz: ## fuzz every parser for a while (FUZZTIME=10s each)
	@scripts/fuzz.sh

# What is measured; NAMES="scale watch" names others.
NAMES = pipe start ledger turn task bus effect submit cli gate office wall
.PHONY: bench
bench: setup build ## the numbers of docs/performance.md (NAMES="ledger turn": some of them)
	$(GO) run ./tools/bench $(NAMES)

.PHONY: bench/scale
bench/scale: build ## 10,000 subtasks in 1,000 tasks on 64 workers, with each driver of the bus
	$(GO) run ./tools/bench -driver file scale
	$(GO) run ./tools/bench -driver nats scale

.PHONY: release
release: toolbox ## archives for linux/amd64 and linux/arm64 with checksums, in dist/
	@scripts/release.sh

.PHONY: release/twice
release/twice: toolbox ## make a release twice, and show that its bytes are the same
	@scripts/release-twice.sh

.PHONY: darwin
darwin: ## whether company passes the type checker for macOS, where it is not supported yet
	@$(GO) build -C tools/checks -o ../../bin/typecheck ./typecheck
	GOOS=darwin GOARCH=arm64 bin/typecheck ./cmd/company

.PHONY: page
page: web/node_modules/.package-lock.json ## the page of an office, from web/ into internal/api/page/dist (needs Node 20.19)
	cd web && npm run --silent build

.PHONY: page/test
page/test: web/node_modules/.package-lock.json ## the tests of the page's logic, under Node
	cd web && npm test --silent

.PHONY: screenshots
screenshots: setup build ## the pictures of the page in docs/img, taken in Chromium from a served demo
	@scripts/setup.sh test
	@mkdir -p docs/img
	COMPANY_TEST_VARIANTS=all $(GO) test ./test/e2e -run 'TestScreenshots$$' -count=1 -timeout 20m -args -screenshots docs/img

web/node_modules/.package-lock.json: web/package.json web/package-lock.json
	cd web && npm ci --no-audit --no-fund
	@touch $@

.PHONY: docs
docs: ## the generated parts of docs/: keys, errors, variables, limits, JSON
	$(GO) run ./tools/handbook pages .

.PHONY: lint
lint: ## gofmt, vet, errcheck, errorlint, bodyclose, contextcheck, unparam, staticcheck, revive, usetesting (.golangci.yml)
	@test -z "$$(gofmt -l cmd internal test | tee /dev/stderr)"
	@$(GO) build -C tools/checks -o ../../bin/golangci-lint github.com/golangci/golangci-lint/v2/cmd/golangci-lint
	bin/golangci-lint run $(SOURCES)
