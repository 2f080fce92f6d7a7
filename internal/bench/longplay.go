package bench

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"company/internal/adapters/scripted"
)

// A long conversation is that of a worker in a generated repository. Every ten turns have two searches, five reads of
// whole files and parts, two edits, and tests that fail with a long log.
const (
	longFiles = 24  // files of the repository
	longLines = 200 // lines of each
)

func longFile(n int) string { return fmt.Sprintf("lib/part%02d.lua", n%longFiles) }

// longText returns a file of the repository of long conversations. Its language has no gates in the company, because
// they would be measured, too.
func longText(n int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "-- part %02d of the router\nlocal common = require(\"lib.common\")\nlocal M = {}\n\n", n)
	for i := 0; b.Len() < longLines*36; i++ {
		fmt.Fprintf(&b, "-- rule %02d-%03d: open\nfunction M.route_%02d_%03d(request, state)\n\tlocal key = "+
			"common.key(request.path, %d)\n\tif state[key] == nil then return nil, \"no route for \" .. key end\n\treturn "+
			"state[key]:handle(request)\nend\n\n", n, i, n, i, i)
	}
	return b.String() + "return M\n"
}

// longTest prints a log like tests do, and fails depending on its second argument.
const longTest = `i=0
while [ $i -lt ${2:-20} ]; do
  i=$((i+1))
  echo "=== RUN   route_$1_$i"
  echo "    router_test.lua:$i: request GET /api/v1/part$1/item/$i answered 200 after ${i}ms with 512 bytes"
  [ $i -lt 25 ] && echo "--- PASS: route_$1_$i (0.01s)" || echo "--- FAIL: route_$1_$i (0.01s): want handler of $1, got nil (no route for $1/$i)"
done
[ ${2:-20} -lt 25 ]
`

// makeLongCase writes the repository of a long conversation, and returns its case.
func makeLongCase(dir string, turns int) (Case, play, error) {
	files := map[string]string{"test.sh": longTest, "README.md": "# Router\n\nThe parts of a router, in lib.\n",
		"lib/common.lua": longText(99)}
	for n := range longFiles {
		files[longFile(n)] = longText(n)
	}
	for name, text := range files {
		path := filepath.Join(dir, BaseFolder, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return Case{}, play{}, err
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			return Case{}, play{}, err
		}
	}
	c := Case{
		Name: fmt.Sprintf("long-%d", turns), Dir: dir, Base: Base{Folder: filepath.Join(dir, BaseFolder)},
		Run: "sh test.sh 00", WorkTime: defaultWorkTime, TestTime: defaultTestTime,
		Instruction: "Close the open rules of the router, part by part. Each rule that is closed says so in its comment, " +
			"and the tests of its part pass.",
		// The hidden tests of this case are never run, because only its tokens are counted.
		Hidden: []byte("diff --git a/hidden b/hidden\nnew file mode 100644\n--- /dev/null\n+++ b/hidden\n@@ -0,0 +1 " +
			"@@\n+hidden\n"),
	}
	return c, recordLong(turns), nil
}

// recordLong returns a long conversation with the given number of worker replies.
func recordLong(turns int) play {
	p := play{command: "sh test.sh 00", files: []string{longFile(0)}}
	p.manager = []scripted.Reply{callTool("list_files", map[string]any{}), readFile(longFile(0)),
		planOneTicket("Close the open rules", "Close them in all parts of lib, one after the other.", []string{"lib/**"})}
	p.look = []scripted.Reply{runCommand(p.command), readFile(longFile(0))}
	for n := range turns - 2 {
		p.worker = append(p.worker, longStep(n/10, n%10))
	}
	p.worker = append(p.worker, callTool("git_commit", map[string]any{"message": "Close rules"}),
		callTool("finish", map[string]any{"summary": "The rules are closed."}))
	return p
}

// longStep returns one reply of round n.
func longStep(n, step int) scripted.Reply {
	file := longFile(n)
	part := fmt.Sprintf("%02d", n%longFiles)
	edit := func(rule int) scripted.Reply {
		from := fmt.Sprintf("-- rule %s-%03d: open", part, rule+2*(n/longFiles))
		return callTool(
			"edit_file", map[string]any{"path": file, "old": from, "new": strings.Replace(from, "open", "closed", 1)})
	}
	switch step {
	case 0:
		return callTool("search", map[string]any{"pattern": "route_" + part + "_0[0-3]"})
	case 1, 6:
		return readFile(file)
	case 2:
		return callTool("read_file", map[string]any{"path": longFile(n + 1), "offset": 40, "limit": 80})
	case 3:
		return edit(0)
	case 4:
		return runCommand("sh test.sh " + part + " 120")
	case 5:
		return runCommand("grep -n 'function M' " + file)
	case 7:
		return edit(1)
	case 8:
		return runCommand("sh test.sh " + part)
	}
	if n%2 == 0 {
		return readFile("lib/common.lua")
	}
	return runCommand("git diff --stat; git status --short")
}
