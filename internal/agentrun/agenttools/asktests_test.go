package agenttools

import "testing"

// finish asks once for tests where the branch changes code and no test, and never where it was not told to.
func TestFinishAsksForTests(t *testing.T) {
	const (
		code = `{"path":"sum.go","content":"package sum\n"}`
		test = `{"path":"sum_test.go","content":"package sum\n"}`
		text = `{"path":"notes.md","content":"notes\n"}`
	)
	for name, c := range map[string]struct {
		files []string
		ask   bool
		asks  bool
	}{
		"code":          {[]string{code, text}, true, true},
		"with a test":   {[]string{code, test}, true, false},
		"a text":        {[]string{text}, true, false},
		"it is not to":  {[]string{code}, false, false},
		"a test alone":  {[]string{test}, true, false},
		"code in parts": {[]string{text, code}, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.config.Base, b.config.AskTests = b.start, c.ask
			w := WorkerTools(b.config)
			for _, f := range c.files {
				requireText(t, call(t, w, "write_file", f), false)
			}
			const finish = `{"summary":"done","commit":"add a sum"}`
			first := call(t, w, "finish", finish)
			if c.asks {
				requireText(t, first, true, "no test changes with this work", "say in risks why")
				first = call(t, w, "finish", finish)
			}
			requireText(t, first, false, "finished at ")
		})
	}
}
