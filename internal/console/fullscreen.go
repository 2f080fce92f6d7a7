package console

import (
	"os"

	"company/internal/company"
)

// FullScreen is the terminal for screens that take all of it, with keys. Where stdin or
// stdout is none, or a program is to read stdout, it is EUsage.
func (con *Console) FullScreen() (in, out *os.File, err error) {
	in, _ = con.In.(*os.File)
	out, _ = FileOf(con.Out).(*os.File)
	why := ""
	switch {
	case con.Output != "text":
		why = "-o json is for programs, and it shows screens to people"
	case con.NoInput:
		why = "--no-input leaves it no keys"
	case out == nil || !IsTerminal(out):
		why = "stdout is not a terminal"
	case in == nil || !IsTerminal(in):
		why = "stdin is not a terminal, so that it gets no keys"
	case !con.MovesCursor(out):
		why = "TERM is dumb or not set: this terminal does not move its cursor"
	default:
		return in, out, nil
	}
	return nil, nil, company.E(company.EUsage, "company watch is for a terminal").Because(why).
		Fix("company status shows the office once, company feed --follow what happens")
}
