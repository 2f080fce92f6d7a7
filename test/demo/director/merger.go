package director

import (
	"strings"

	"company/internal/adapters/scripted"
)

// merge reads each file in conflict through its tools, keeps both sides of
// every conflict, and runs the tests before it commits.
func merge(x scripted.Exchange) scripted.Reply {
	paths := items(section(x.Brief(), "Conflicts"))
	return play(x, func(scripted.Exchange) scripted.Reply {
		var calls []scripted.Call
		for _, p := range paths {
			calls = append(calls, call("read_file", Args{"path": p}))
		}
		return say("I read both sides.", calls...)
	}, func(x scripted.Exchange) scripted.Reply {
		var calls []scripted.Call
		for _, p := range paths {
			lines, ok := file(x, p)
			if !ok {
				return giveUp(x, p+" cannot be read")
			}
			text, conflicts := union(lines)
			if conflicts == 0 {
				return giveUp(x, p+" has no conflict markers")
			}
			calls = append(calls, call("write_file", Args{"path": p, "content": text}))
		}
		return say("Both sides add to the same lists: both stay.", calls...)
	}, run("go vet ./... && go test ./..."), commit("Merge the integration branch, keeping both sides' commands"),
		finish("Both sides' entries and both sides' tests are kept; vet and tests pass."))
}

// union keeps both sides of every conflict, this side first.
func union(lines []string) (text string, conflicts int) {
	var b strings.Builder
	base := false // within the common ancestor's version, which some styles show
	for _, l := range lines {
		switch {
		case strings.HasPrefix(l, "<<<<<<< "):
			conflicts++
		case strings.HasPrefix(l, "||||||| "):
			base = true
		case l == "=======":
			base = false
		case strings.HasPrefix(l, ">>>>>>> "), base:
		default:
			b.WriteString(l + "\n")
		}
	}
	return b.String(), conflicts
}
