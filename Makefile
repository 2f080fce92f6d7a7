# Two commands matter: make demo, make test. The rest is for those who work on
# company itself. Recipes are thin: what is long lives in scripts/.
.DEFAULT_GOAL := help
GO ?= go
SOURCES := ./...
# The program is linked statically (DST-1), and tests without the race detector share its build.
export CGO_ENABLED = 0

.PHONY: help
help: ## show the targets that matter; make help/all shows the rest
	@awk -F ':.*## ' '/^[a-z\/]+:.*## / {printf "  make %-16s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: help/all
help/all: #- show all targets
	@awk -F ':.*#[#-] ' '/^[a-z\/]+:.*#[#-] / {printf "  make %-16s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: setup
setup: #- install and start what is missing (Docker, git, mmdebstrap)
	@scripts/setup.sh

.PHONY: toolbox
toolbox: #- the program that runs inside workers, to be embedded
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
uninstall: #- remove what make install put below $(PREFIX)
	@PREFIX="$(PREFIX)" DESTDIR="$(DESTDIR)" scripts/install.sh uninstall

.PHONY: demo
demo: setup build ## watch a company do a small job, then check that it did (WATCH=1: on its page, which stays; AGENT=opencode: its workers are opencode)
	@scripts/demo.sh

# The phases and their packages are in tools/testrun/phases.go.
.PHONY: test
test: ## every test that a change must pass, in phases: build, rules, unit, race, docker, e2e (PHASES=unit,race: these)
	@scripts/setup.sh test
	@$(GO) run ./tools/testrun -only "$(PHASES)" -also "$(ALSO)"

.PHONY: test/long
test/long: ## everything else, in two hours: every client, package set, seed and moment of a kill (PHASES=docker: that)
	@scripts/setup.sh test
	@$(GO) run ./tools/testrun -long -only "$(PHASES)"
	@scripts/cover.sh

.PHONY: test/cover
test/cover: #- how many statements of internal/ the tests without Docker execute
	@scripts/cover.sh

# One program that is raced as a whole meets the concurrency of real walks.
.PHONY: test/race
test/race: setup build #- the end-to-end tests with a program that was built under the race detector
	@scripts/setup.sh test
	CGO_ENABLED=1 $(GO) build -race -o bin/company-raced ./cmd/company
	COMPANY_TEST_BINARY=$(CURDIR)/bin/company-raced $(GO) test -vet=off -timeout 2h -skip "^TestProgramIsStatic$$" ./test/e2e

.PHONY: test/short
test/short: ## the tests that need no Docker
	@GO="$(GO)" scripts/test-short.sh $(SOURCES)

.PHONY: cold
cold: #- empty every cache that a run fills (Go's, npm's, worker images), to measure the first run
	$(GO) clean -cache -testcache -modcache
	rm -rf bin web/node_modules internal/container/image/toolboxbin/toolbox-linux-*
	rm -rf "$${XDG_CACHE_HOME:-$$HOME/.cache}/company"
	! command -v npm >/dev/null || npm cache clean --force --silent
	-docker images -q 'company/*' | sort -u | xargs -r docker rmi -f >/dev/null

.PHONY: wires
wires: #- what model servers send, each shape in miniature; DATA=DIR plays the recordings of DIR, too (DIR/run.sh)
	$(GO) test ./internal/adapters/...
	$(if $(DATA),WIRE_CAUSES=1 $(DATA)/run.sh .)

.PHONY: records
records: setup build #- the stored records that end-to-end tests play, made again (after a change of prompts or tools)
	@scripts/setup.sh test
	COMPANY_TEST_LONG=1 $(GO) test ./test/e2e -run '^(TestConflictResolved|TestBadMemberIsFound)$$' -count=1 -timeout 20m -args -update-records

.PHONY: tokens
tokens: setup build #- the pinned tokens of recorded conversations, made again (after a change of prompts or tools that is meant to cost more)
	@scripts/setup.sh test
	COMPANY_TEST_LONG=1 $(GO) test ./tools/benchwork -run '^TestTokens$$' -count=1 -timeout 20m -args -update-tokens

.PHONY: count
count: build ## the size and structure of this tree in numbers; BEFORE=COMMIT puts an earlier one beside it
	@$(GO) run ./test/count . $(BEFORE:%=@%)

.PHONY: hooks
hooks: #- let git test what is staged before it commits (scripts/hooks)
	git config core.hooksPath scripts/hooks

.PHONY: interrupts
interrupts: setup build #- end the company at 300 moments of its work, in every way, and let it go on
	$(GO) test ./internal/agentrun/sandbox -run TestInterruptedWork -count=1 -timeout 2h -args -every
	$(GO) test ./test/e2e -run 'TestInterrupts$$' -count=1 -timeout 5h -args -moments 300 -seed $${SEED:-1}

.PHONY: storm
storm: #- 5,000 crashes of the file driver's disk (SEED=1, N=5000), 500 kills of a process on each driver (KILLS=500), their suites, 5,000 attacks on stored files, and 1,000 histories under the office's caps
	$(GO) test ./internal/bus/file -run 'TestStorm$$' -count=1 -timeout 30m -v -args -crashes $${N:-5000} -seed $${SEED:-1}
	$(GO) test ./internal/bus/file ./internal/bus/nats -run 'TestKillStorm$$' -count=1 -timeout 60m -v -args -crashes $${KILLS:-500} -seed $${SEED:-1}
	$(GO) test ./internal/bus/... -count=1 -timeout 30m
	$(GO) test ./internal/upkeep -run 'TestAttackedStore$$' -count=1 -timeout 30m -v -args -attacks $${N:-5000} -attack-seed $${SEED:-1}
	COMPANY_TEST_LONG=1 $(GO) test ./internal/company -run 'TestManyHistoriesStayUnderOfficeCaps$$' -count=1 -timeout 30m

.PHONY: mutants
mutants: #- break the core and its checker on purpose: the named mutants and a sample of each (SEED=1, N=400)
	@$(GO) run ./test/mutants -seed $${SEED:-1} -n $${N:-400} -most 25
	@$(GO) run ./test/mutants -package internal/company/historytest -seed $${SEED:-1} -n $${N:-400} -most 5

.PHONY: strangers
strangers: setup build #- the company on N=20 repositories that SEED=1 and the commit draw; writes bin/strangers.md (PREPARE=1: only find them and keep them; RESUME=1 COMMIT=id: go on; AGAIN=1: a second walk)
	@scripts/setup.sh test
	$(GO) test -C test/strangers . -run 'TestDraw$$' -count=1 -timeout 8h -v -args -draw $${SEED:-1} -cases $${N:-20} -draw-table bin/strangers.md $(if $(PREPARE),-prepare) $(if $(RESUME),-resume) $(if $(AGAIN),-again) $(if $(COMMIT),-draw-commit $(COMMIT))

.PHONY: strangers/agents
strangers/agents: setup build #- real programs of others as workers, from their registries, with a scripted model
	COMPANY_TEST_LONG=1 $(GO) test ./test/e2e -run 'TestReal' -count=1 -timeout 20m -v

.PHONY: strangers/lists
strangers/lists: #- the frozen lists that draws are made from, made again: draws of old commits change
	$(GO) run -C test/strangers ./makelists lists

.PHONY: strangers/pinned
strangers/pinned: setup build #- the company on the fixed list of repositories; writes bin/strangers-pinned.md (RESUME=1: go on)
	@scripts/setup.sh test
	$(GO) test -C test/strangers . -run TestStrangers -count=1 -timeout 3h -args -all -table bin/strangers-pinned.md $(if $(RESUME),-resume)

.PHONY: strangers/gitea
strangers/gitea: #- the Gitea driver against a real Gitea, built from its module; writes bin/strangers-gitea.md
	@mkdir -p bin
	dir=$$(scripts/build-gitea.sh) && $(GO) test ./internal/forge/gitea -run TestForge -count=1 -timeout 30m -args -gitea "$$dir" -table "$(CURDIR)/bin/strangers-gitea.md"

.PHONY: strangers/ollama
strangers/ollama: setup build #- the company against a real Ollama server, built from its module; writes bin/strangers-ollama.md
	@scripts/strangers-ollama.sh

.PHONY: fuzz
fuzz: #- fuzz every parser for a while (FUZZTIME=10s each)
	@scripts/fuzz.sh

# What is measured; NAMES='Turn|Task' names some of them.
NAMES = .
.PHONY: bench
bench: setup build ## the numbers of docs/performance.md (NAMES='Turn|Page': some of them)
	@scripts/setup.sh test
	COMPANY_TEST_BINARY=$(or $(PROGRAM),asis) $(GO) test ./test/bench -run '^$$' -bench '$(NAMES)' -benchtime 5x -count 1

.PHONY: release
release: toolbox #- archives for linux/amd64 and linux/arm64 with checksums, in dist/
	@scripts/release.sh

.PHONY: release/twice
release/twice: toolbox #- make a release twice, and show that its bytes are the same
	@scripts/release-twice.sh

.PHONY: darwin
darwin: #- whether company passes the type checker for macOS, where it is not supported yet
	@$(GO) build -C tools/checks -o ../../bin/typecheck ./typecheck
	GOOS=darwin GOARCH=arm64 bin/typecheck ./cmd/company

.PHONY: page
page: web/node_modules/.package-lock.json #- the page of an office, from web/ into internal/api/page/dist (needs Node 20.19)
	cd web && npm run --silent build

.PHONY: page/test
page/test: web/node_modules/.package-lock.json #- the tests of the page's logic, under Node
	cd web && npm test --silent

.PHONY: screenshots
screenshots: setup build #- the pictures of the page in docs/img, taken in Chromium from a served demo
	@scripts/setup.sh test
	@mkdir -p docs/img
	COMPANY_TEST_LONG=1 $(GO) test ./test/e2e -run 'TestScreenshots$$' -count=1 -timeout 20m -args -screenshots docs/img

web/node_modules/.package-lock.json: web/package.json web/package-lock.json
	@. scripts/fetch.sh; fetch "packages of npm for the page" npm --prefix web ci --no-audit --no-fund
	@touch $@

.PHONY: docs
docs: #- the generated parts of docs/: keys, errors, variables, limits, JSON
	$(GO) run ./tools/handbook pages .

.PHONY: lint
lint: ## the analyzers of go vet and staticcheck, errcheck, errorlint, bodyclose, contextcheck, unparam, usetesting (tools/checks/lint)
	@. scripts/fetch.sh; fetch "modules of the linter" $(GO) mod download -C tools/checks
	@$(GO) build -C tools/checks -o ../../bin/lint ./lint
	$(GO) vet -vettool=$(CURDIR)/bin/lint $(SOURCES)
