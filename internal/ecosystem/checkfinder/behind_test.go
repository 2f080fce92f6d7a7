package checkfinder

import (
	"testing"

	"company/internal/ecosystem/ecosystemtest"
)

// A check of a job runs behind the builds of that job, in the check's folder; what prepares the machine, what only the
// CI knows and what other jobs build is none of them.
func TestChecksRunBehindTheBuildsOfTheirJob(t *testing.T) {
	const head = "on: push\njobs:\n  a:\n    runs-on: ubuntu-latest\n    steps:\n"
	for name, c := range map[string]struct{ steps, want string }{
		"make": {"      - run: sudo apt-get install cmake\n      - run: make VERBOSE=ON\n      - run: " +
			"./run-tests.sh\n", "make VERBOSE=ON"},
		"a build beside": {"      - run: |\n          cmake -S . -B out\n          cmake --build out\n          cd " +
			"tests\n          ./run-tests.sh\n", "(cd ./.. && cmake -S . -B out) && (cd ./.. && cmake --build out)"},
		"a script": {"      - run: npm ci\n      - run: npm run build:all\n      - run: npm run lint\n      - " +
			"run: ./run-tests.sh\n", "npm run build:all"},
		"a folder that it made": {"      - run: mkdir build && cd build && cmake .. && make -j 4 && cd ..\n      - run: " +
			"./run-tests.sh\n", "(mkdir -p ./build && cd ./build && cmake ..) && (mkdir -p ./build && cd ./build && make -j 4)"},
		"one of two ways": {"      - run: if test -n \"$WIN\"; then make; else make all; fi\n      - run: " +
			"./run-tests.sh\n", ""},
		"a part that is open": {"      - run: ./configure --prefix=$PLACE\n      - run: make\n      - run: " +
			"./run-tests.sh\n", ""},
		"a folder with a blank": {"      - run: make\n        working-directory: my dir\n      - run: ./run-tests.sh\n",
			"(mkdir -p './my dir' && cd './my dir' && make)"},
		"no folder of the tree": {"      - run: make\n        working-directory: /tmp/x\n      - run: ./run-tests.sh\n", ""},
		"a comparison between": {"      - run: make\n      - run: git diff --exit-code\n      - run: ./run-tests.sh\n",
			"make"},
		"what only CI knows":  {"      - run: make all KEY=${{ secrets.KEY }}\n      - run: ./run-tests.sh\n", ""},
		"an installation":     {"      - run: make install\n      - run: ./run-tests.sh\n", ""},
		"nothing that builds": {"      - run: ./start-server.sh &\n      - run: ./run-tests.sh\n", ""},
		"another job": {"      - run: make\n  b:\n    runs-on: ubuntu-latest\n    steps:\n      - run: " +
			"./run-tests.sh\n", ""},
		"one that may fail": {"      - run: make || true\n      - run: ./run-tests.sh\n", ""},
	} {
		found := Find(
			ecosystemtest.Tree(
				map[string]string{".github/workflows/ci.yml": head + c.steps, "run-tests.sh": "", "tests/run-tests.sh": ""}), nil)
		ok := false
		for _, cmd := range found.Commands {
			if cmd.Command == "./run-tests.sh" {
				if ok = true; cmd.Behind != c.want {
					t.Errorf("%s: %q, want %q", name, cmd.Behind, c.want)
				}
			}
		}
		if !ok {
			t.Errorf("%s: the check was not found: %+v", name, found.Commands)
		}
	}
}

// Another compiler of C makes no other check.
func TestCompilersAreNoVariant(t *testing.T) {
	if got := keepChoosing([]string{"CC=clang", "CXX=clang++", "CFLAGS=-fsanitize=address"}); len(got) != 1 ||
		got[0] != "CFLAGS=-fsanitize=address" {
		t.Errorf("%q", got)
	}
}
