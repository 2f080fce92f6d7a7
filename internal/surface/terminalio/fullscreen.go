package terminalio

import (
	"os"

	"company/internal/company"
)

// FullScreen returns stdin and stdout for the terminal UI. It returns EUsage if one of them is no
// terminal, or if a program reads stdout.
func (con *Console) FullScreen() (file, out *os.File, err error) {
	file, _ = con.In.(*os.File)
	out, _ = FileOf(con.Out).(*os.File)
	reason := ""
	switch {
	case con.Output != "text":
		reason = "-o json is for programs, company watch is for people"
	case con.NoInput:
		reason = "--no-input disables its keys"
	case out == nil || !IsTerminal(out):
		reason = "stdout is not a terminal"
	case file == nil || !IsTerminal(file):
		reason = "stdin is not a terminal, so it gets no keys"
	case !con.MovesCursor(out):
		reason = "TERM is dumb or not set: this terminal cannot move its cursor"
	default:
		return file, out, nil
	}
	return nil, nil, company.E(company.EUsage, "company watch needs a terminal").Because(reason).
		Fix("company status shows the office once, company feed --follow streams its events")
}
