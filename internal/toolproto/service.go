package toolproto

import "time"

// ServicesFile is where an image lists the servers that run beside commands, as
// the JSON of Services.
const ServicesFile = "/opt/company/services.json"

// ServicesDir is where services keep their data and logs in a container, a folder
// for each. It ends with the container.
const ServicesDir = "/tmp/services"

// ServiceTimeout bounds the start of all services together.
const ServiceTimeout = 90 * time.Second

// CommandBegins is the line by which a gate's toolbox says on stderr that the tree is laid
// out and that the command begins. Before it stderr is the toolbox's own. An exit code
// without this line is no verdict on the tree, whatever it is.
const CommandBegins = "\x00toolbox: the command begins\n"

// ServiceFailed begins the line on stderr by which a gate says that a service did
// not start. It stands before CommandBegins, which then never comes.
const ServiceFailed = "toolbox: the service "

// ExitService is the exit code of a gate whose services did not start. Commands may end
// with it as well.
const ExitService = 119

// ServicesEnded is a variable of a gate's command: lines of a shell that print, for each
// service that was started and serves no more, ServiceEnded, its name and a bracket. The
// gate's script runs them where its check failed, while everything else still runs.
const ServicesEnded = "TOOLBOX_SERVICES_ENDED"

// ServiceEnded begins the line about a service that did not last as long as the check.
const ServiceEnded = "[ended before the check did, and serves no more: the service "

// Services are the servers of an image.
type Services struct {
	Services []Service `json:"services"`
	TimeoutS int       `json:"timeout_s"` // for the start of all
}

// Service is one server: how it is started afresh, how it says that it serves, and
// how commands find it.
type Service struct {
	Name  string            `json:"name"`
	Data  string            `json:"data,omitempty"` // a folder of the image that is copied to Dir/data at each start of a container
	Dir   string            `json:"dir"`            // the service's own folder in a container
	Start []string          `json:"start"`          // the server, in the foreground; its output goes to Dir/log
	Ready []string          `json:"ready"`          // a command that succeeds once it serves
	Env   map[string]string `json:"env,omitempty"`  // variables that commands get
}
