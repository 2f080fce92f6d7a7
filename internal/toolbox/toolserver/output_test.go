package toolserver

import (
	"bytes"
	"strings"
	"testing"

	"company/internal/toolbox/toolproto"
)

// frames is a command that draws a progress bar in place: frames, a warning between them, more frames.
const frames = `draw() {
	for i in $(seq 3000); do printf "$before"; printf '%4d of 3000 [=====>     ]' $i; printf "$after"; done
}
draw; echo; echo 'warning: the disk is slow'; echo; draw; echo; echo "$end"`

// Of a bar that is drawn in place the last frame is shown, so that what was printed beside it can be seen. The log
// keeps all.
func TestFramesAreShownOnce(t *testing.T) {
	b := newBench(t)
	for name, env := range map[string]map[string]string{
		"carriage return": {"before": "", "after": `\r`},
		"erased line":     {"before": "\r\x1b[2K", "after": ``},
		"backspaces":      {"before": strings.Repeat("\b", 28), "after": ``},
		"cursor up":       {"before": "\x1b[1A\x1b[2K", "after": `\n`},
	} {
		for stream, redirect := range map[string]string{"stdout": "", "stderr": "exec >&2\n"} {
			env["end"] = "\x1b[31mall done\x1b[0m"
			r := b.run(t, toolproto.RunRequest{Command: redirect + frames, Env: env})
			text := r.Stdout.String() + r.Stderr.String()
			if !strings.Contains(text, "warning: the disk is slow\n") || !strings.HasSuffix(text, "all done\n") ||
				strings.Count(text, "of 3000") > 4 || strings.Contains(text, "\x1b") || strings.Contains(r.Note, "shortened") {
				t.Errorf("%s on %s: %d frames, note %q: %.300q", name, stream, strings.Count(text, "of 3000"), r.Note, text)
			}
			var log bytes.Buffer
			if _, err := b.Log(t.Context(), r.ProcessID, &log); err != nil || strings.Count(log.String(), "of 3000") != 6000 ||
				!strings.Contains(log.String(), "\x1b[31m") {
				t.Errorf("%s on %s: the log has %d frames, %v", name, stream, strings.Count(log.String(), "of 3000"), err)
			}
		}
	}
}

// A line without an end keeps its head and its tail, and thousands of equal lines are one with their number.
func TestLongLinesAndRepeats(t *testing.T) {
	b := newBench(t)
	r := b.run(t, toolproto.RunRequest{Command: "printf first; head -c 100000000 /dev/zero | tr '\\0' x; printf last"})
	if !strings.HasPrefix(r.Stdout.Head, "firstxxx") || !strings.HasSuffix(r.Stdout.Tail, "xxxlast") ||
		len(r.Stdout.Head) != toolproto.OutputHead || len(r.Stdout.Tail) != toolproto.OutputTail ||
		r.Stdout.Omitted != 100_000_009-toolproto.OutputHead-toolproto.OutputTail {
		t.Errorf("head %d, tail %d, omitted %d", len(r.Stdout.Head), len(r.Stdout.Tail), r.Stdout.Omitted)
	}
	r = b.run(t, toolproto.RunRequest{Command: "yes 'warning: old' | head -n 9000; echo 'error: why'"})
	if want := "warning: old\n[the line above is repeated 8999 times]\nerror: why\n"; r.Stdout.String() != want {
		t.Errorf("%.300q", r.Stdout.String())
	}
}

// While a command draws, and in the background, its output is also shown without the earlier frames.
func TestFramesWhileACommandRuns(t *testing.T) {
	b := newBench(t)
	const command = `echo 'warning: slow'; for i in $(seq 500); do printf '\r%4d of 500' $i; done
until [ -e end ]; do sleep 0.02; done`
	const want = "warning: slow\n 500 of 500"
	var told string
	b.run(t, toolproto.RunRequest{Command: command, OnOutput: func(recent string) {
		if told = recent; strings.HasSuffix(recent, " 500 of 500") {
			b.file(t, "end", "")
		}
	}})
	if told != want {
		t.Errorf("%q", told)
	}
	p := b.run(t, toolproto.RunRequest{Command: command, Background: true})
	waitFor(t, "the last frame", func() bool {
		told = must[toolproto.RunResult](t)(b.CheckProcess(t.Context(), p.ProcessID)).Stdout.String()
		return strings.HasSuffix(told, " 500 of 500")
	})
	if told != want {
		t.Errorf("%q", told)
	}
	b.file(t, "service.log", "up\n1%\r2%\r\x1b[2K\x1b[32mready\x1b[0m\r\n")
	if text := readTail(b.dir+"/service.log", 100); text != "up\nready" {
		t.Errorf("%q", text)
	}
}
