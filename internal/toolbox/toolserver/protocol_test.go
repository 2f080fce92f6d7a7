package toolserver

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// All but those that run what they are told: no fuzzed shell and no fuzzed
// URL on the machine of the test.
var tools = strings.Fields(
	"heartbeat read_file write_file edit_file search list_files check_process stop_process list_processes git_status " +
		"git_commit push checkpoint")

// Whatever is asked, the answer is a result, a refusal or 404: never a fault.
func FuzzProtocol(f *testing.F) {
	f.Add(uint8(1), []byte(`{"path":"x","offset":-1,"limit":-9}`))
	f.Add(uint8(2), []byte(`{"path":"x","content":"!!"}`))
	f.Add(uint8(3), []byte(`{"path":7}`))
	f.Add(uint8(4), []byte(`{"pattern":"(a*)*","glob":"{{{"}`))
	f.Add(uint8(0), []byte(``))
	s, err := New(Config{Root: f.TempDir(), Temp: f.TempDir(), Grace: time.Second})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = s.Close() })
	h := s.Handler()
	f.Fuzz(func(t *testing.T, tool uint8, body []byte) {
		name := tools[int(tool)%len(tools)]
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest("POST", "/v1/"+name, strings.NewReader(string(body))))
		if w.Code != http.StatusOK && w.Code != http.StatusUnprocessableEntity {
			t.Fatalf("%s %q: %d %s", name, body, w.Code, w.Body)
		}
	})
}
