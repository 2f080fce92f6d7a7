package officeaccess

import (
	"context"
	"fmt"

	"company/internal/api"
	officeapp "company/internal/app"
)

// AnnouncePage prints a browser link for the office of this process, if it has an address. The
// link is for one person, so JSON output has only the address, and company open prints a link.
func (ent *Entrance) AnnouncePage(app *officeapp.App) error {
	switch con := ent.Console; {
	case app.Address() == "":
		return nil
	case con.Output == "json":
		con.PrintNote("the page is at %s; company open prints a link", app.Address())
		return nil
	}
	link, err := app.NewLink()
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(ent.Console.Out, link.URL)
	ent.Console.PrintNote("the link above works once, within ten minutes; company open prints another")
	return err
}

// OpenPage prints a new browser link for an office that another process serves, and opens it if
// browser is set. It returns EConflict if that process has no address for browsers, and ENotFound
// if no company is running.
func (ent *Entrance) OpenPage(ctx context.Context, browser bool) error {
	conn, _, err := ent.ConnectOffice(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	link, err := conn.NewLink(ctx)
	if err != nil {
		return err
	}
	if ent.Console.Output == "json" {
		return ent.Console.PrintJSON(ent.Console.Out, struct {
			SchemaVersion int `json:"schema_version"`
			api.Link
		}{1, link})
	}
	if _, err = fmt.Fprintln(ent.Console.Out, link.URL); err == nil && browser {
		ent.Console.OpenBrowser(ctx, func() (string, error) {
			own, err := conn.NewOwnLink(ctx) // other users can see a program's arguments
			return own.URL, err
		})
	}
	return err
}
