package mcpserver

import (
	"context"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"company/internal/company"
)

// Flags of company mcp that grant more than reading.
const (
	flagWrite   = "--allow-write"
	flagApprove = "--allow-approve"
)

// findLack returns the missing flag, or "" if the grant was given.
func findLack(granted bool, flag string) string {
	if granted {
		return ""
	}
	return flag
}

// describeUse returns the server's instructions for a model. It names no unavailable tools, but
// names the flags that add them, so the agent can ask its user.
func (g Grants) describeUse() string {
	text := `company is a software company in one binary: it takes an instruction for a git repository, agents work in containers, and a pull request comes out of it. The president is your user.
Ids: t12 is a task, t12-03 a subtask, t12-03.2 a run, a7 a question to the president, #7 a pull request.
`
	if g.Write {
		text += "Usual way: submit, wait (again until the task rests), show, diff, pr_show. status lists what needs the " +
			"president.\n"
	} else {
		text += "This server only reads: status lists what needs the president; then show, diff, pr_show. Tools that " +
			"submit, answer or cancel are there when your user adds " + flagWrite + " to the command company mcp.\n"
	}
	if g.Approve {
		text += "approve and reject decide in the president's place: ask your user first.\n"
	} else {
		text += "Your user answers yes-or-no questions in a terminal: company approve or " +
			"company reject.\n"
	}
	return text + "If a result suggests a command such as company show t1, call the tool of that name. If there is " +
		"no such tool, the command is for your user.\n" + dataNotice
}

// refuseWithheld answers a call of a tool without its grant with the name of the missing flag.
// Such calls come from models that guess, and from clients with an outdated list of tools.
func (s *Server) refuseWithheld(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		if p, ok := req.GetParams().(*mcp.CallToolParamsRaw); ok && s.withheld[p.Name] != "" {
			return toolError(company.E(company.EUsage, p.Name+" is not allowed").
				Because("company mcp was started without " + s.withheld[p.Name]).
				Fix("leave it to your user: the flag belongs after company mcp in the client's configuration")), nil
		}
		return next(ctx, method, req)
	}
}
