package office

import "context"

// Check is one thing that doctor looks at. Each room brings its own.
type Check struct {
	Name string
	Run  func(ctx context.Context) Result
}

// Result is what a check saw.
type Result struct {
	OK     bool   `json:"ok"`
	Warn   bool   `json:"warn,omitempty"` // not right, but nothing that stops work
	Found  string `json:"found"`
	Needed string `json:"needed,omitempty"`
	Fix    string `json:"fix,omitempty"` // the exact command, where there is one
}
