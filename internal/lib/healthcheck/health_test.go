package healthcheck

import (
	"encoding/json"
	"testing"
)

func TestResultJSON(t *testing.T) {
	b, err := json.Marshal(Result{OK: true, Warn: true, Found: "runc 1.1.5", Needed: "1.2.8", Fix: "apt-get install runc"})
	if err != nil ||
		string(b) != `{"ok":true,"warn":true,"found":"runc 1.1.5","needed":"1.2.8","fix":"apt-get install runc"}` {
		t.Fatalf("%s %v", b, err)
	}
}
