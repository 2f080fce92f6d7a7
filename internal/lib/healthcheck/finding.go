package healthcheck

// Finding is the result of a check that has a name.
type Finding struct {
	Name   string `json:"name"`
	Status string `json:"status"` // pass | fail | warn | unknown
	Result
	Unknown bool `json:"unknown,omitempty"` // it could not be checked in time
}

// Label returns the status of a finding: pass, fail, warn or unknown.
func (v Finding) Label() string {
	switch {
	case v.Unknown:
		return "unknown"
	case v.OK:
		return "pass"
	case v.Warn:
		return "warn"
	}
	return "fail"
}

// Mark returns the symbol of the status for a terminal.
func (v Finding) Mark() string {
	return map[string]string{"unknown": "?", "pass": "+", "warn": "!", "fail": "x"}[v.Label()]
}
