package director

import (
	"encoding/json"
	"regexp"
	"strings"

	"company/internal/adapters"
	"company/internal/adapters/scripted"
	"company/internal/company"
)

// ForOpencode lets a brain that calls the company's tools play the workers that are opencode: each call becomes one of
// opencode's own tools, and each of its answers reads as the company's does.
func ForOpencode(brain scripted.Responder) scripted.Responder {
	return scripted.BrainFunc(func(x scripted.Exchange) scripted.Reply {
		switch {
		case len(x.Tools) == 0 && (x.Header.Role == company.Worker || x.Header.Role == ""):
			return scripted.Reply{Text: "A part of the stockroom"} // opencode asks for a title
		case x.Header.Role != company.Worker || !x.Offers("bash"):
			return brain.Reply(x)
		}
		reply := brain.Reply(fromOpencode(x))
		for i, c := range reply.Calls {
			args, _ := c.Args.(Args)
			text := func(name string) string { s, _ := args[name].(string); return s }
			switch c.Tool {
			case "finish":
				return scripted.Reply{Text: text("summary")}
			case "escalate":
				return scripted.Reply{Text: "ESCALATE: " + text("reason")}
			}
			reply.Calls[i] = toOpencode(c.Tool, args, text)
		}
		return reply
	})
}

const workFolder = "/work/repo/"

// toOpencode is the call of opencode that does what a call of the company does. A command begins with the company's
// name for it.
func toOpencode(tool string, args Args, text func(string) string) scripted.Call {
	quote := func(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
	shell := func(command string) scripted.Call {
		return call("bash", Args{"command": ": " + tool + "; " + command, "description": tool})
	}
	switch tool {
	case "read_file":
		read := Args{"filePath": workFolder + text("path")}
		for _, name := range []string{"offset", "limit"} {
			if n, ok := args[name]; ok {
				read[name] = n
			}
		}
		return call("read", read)
	case "write_file":
		return call("write", Args{"filePath": workFolder + text("path"), "content": text("content")})
	case "edit_file":
		return call("edit", Args{"filePath": workFolder + text("path"), "oldString": text("old"),
			"newString": text("new")})
	case "search":
		folder, name, _ := strings.Cut(text("glob"), "/**/")
		if name == "" {
			folder, name = folder[:strings.LastIndex(folder, "/")], folder[strings.LastIndex(folder, "/")+1:]
		}
		return shell("grep -rnE --include=" + quote(name) + " -e " + quote(text("pattern")) + " " + folder +
			` | sed -E 's/^([^:]+:[0-9]+):/\1: /'`)
	case "git_commit":
		return shell("git add -A && git commit -q -m " + quote(text("message")) + " && echo committed it")
	}
	return shell("(" + text("command") + "\n) 2>&1; echo \"exit code $?\"")
}

// fromOpencode is a request of opencode as the company would make it.
func fromOpencode(x scripted.Exchange) scripted.Exchange {
	x.Tools = append([]adapters.Tool{{Name: "escalate"}}, x.Tools...)
	messages := make([]adapters.Message, len(x.Messages))
	tools := map[string]string{} // the company's names of the newest calls, by id
	for i, m := range x.Messages {
		if m.Role == adapters.Assistant {
			m.ToolCalls = append([]adapters.ToolCall(nil), m.ToolCalls...)
			clear(tools)
			for k := range m.ToolCalls {
				c := &m.ToolCalls[k]
				c.Name, c.Arguments = companyCall(c.Name, c.Arguments)
				tools[c.ID] = c.Name
			}
		}
		if m.Role == adapters.ToolRole {
			m.ToolName = tools[m.ToolCallID]
			m.Content = companyAnswer(m.ToolName, m.Content)
		}
		messages[i] = m
	}
	x.Messages = messages
	return x
}

// companyCall names a call of opencode as the company does. Of the arguments only the path is read later.
func companyCall(tool, arguments string) (name, args string) {
	var a struct{ FilePath, Command string }
	if err := json.Unmarshal([]byte(arguments), &a); err != nil {
		return tool, arguments
	}
	path, err := json.Marshal(Args{"path": strings.TrimPrefix(a.FilePath, workFolder)})
	if err != nil {
		return tool, arguments
	}
	switch tool {
	case "read":
		return "read_file", string(path)
	case "write":
		return "write_file", string(path)
	case "edit":
		return "edit_file", string(path)
	}
	name, _, _ = strings.Cut(strings.TrimPrefix(a.Command, ": "), ";")
	return name, "{}"
}

var readEnd = regexp.MustCompile(`(?m)^\((End of file|Showing lines) .*\)\n?`)

// companyAnswer turns an answer of one of opencode's tools into what the company's own tool would have written.
func companyAnswer(tool, text string) string {
	switch tool {
	case "read_file":
		_, content, _ := strings.Cut(text, "<content>\n")
		content, _, _ = strings.Cut(content, "\n</content>")
		return strings.TrimSuffix(readEnd.ReplaceAllString(content, ""), "\n")
	case "write_file":
		return strings.Replace(text, "Wrote file", "created it: wrote file", 1)
	case "edit_file":
		return strings.Replace(text, "Edit applied", "edited it: applied", 1)
	case "run_command":
		at := strings.LastIndex(text, "exit code ")
		if at < 0 {
			return text
		}
		return strings.TrimSpace(text[at:]) + " of the command\n" + text[:at]
	}
	return text
}
