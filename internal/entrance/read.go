package entrance

import (
	"context"

	"company/internal/client"
	"company/internal/company"
	"company/internal/view"
)

// Read connects to the office and reads something of it.
func Read[T any](ctx context.Context, ent *Entrance, get func(*client.Office, context.Context) (T, error)) (v T, conn *client.Office, err error) {
	conn, _, err = ent.ConnectOffice(ctx)
	if err != nil {
		return v, nil, err
	}
	if v, err = get(conn, ctx); err != nil {
		conn.Close()
		return v, nil, err
	}
	return v, conn, nil
}

// ReadAfter reads what a command has left that conn carried. The company that did it may
// have ended meanwhile, as after a no that ends its last task: then the office is connected
// to anew. The caller closes the office that it gets, which is conn where there is an error.
func ReadAfter[T any](ctx context.Context, ent *Entrance, conn *client.Office, get func(*client.Office, context.Context) (T, error)) (T, *client.Office, error) {
	v, err := get(conn, ctx)
	if company.CodeOf(err) != company.EHeld {
		return v, conn, err
	}
	v, again, err := Read(ctx, ent, get)
	if err != nil {
		return v, conn, err
	}
	conn.Close()
	return v, again, nil
}

// ReadApproval connects to the office and reads a question.
func ReadApproval(ctx context.Context, ent *Entrance, id string) (view.Approval, *client.Office, error) {
	return Read(ctx, ent, func(o *client.Office, ctx context.Context) (view.Approval, error) {
		return o.Approval(ctx, company.ApprovalID(id))
	})
}
