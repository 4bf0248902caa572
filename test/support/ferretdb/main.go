// FerretDB over SQLite in the folder that it is given, on the port of 127.0.0.1 that it is given, else a free one; prints
// the port, ends when its input does.
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net/url"
	"os"

	"github.com/FerretDB/FerretDB/ferretdb"
)

func main() {
	port := "0"
	if len(os.Args) > 2 {
		port = os.Args[2]
	}
	errors := slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError})
	ferret, err := ferretdb.New(&ferretdb.Config{
		Listener:  ferretdb.ListenerConfig{TCP: "127.0.0.1:" + port},
		Logger:    slog.New(errors),
		Handler:   "sqlite",
		SQLiteURL: "file:" + os.Args[1] + "/?_pragma=synchronous(off)",
	})
	if err != nil {
		log.Fatal(err)
	}
	address, err := url.Parse(ferret.MongoDBURI())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("port", address.Port())

	ctx, stop := context.WithCancel(context.Background())
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		stop()
	}()
	_ = ferret.Run(ctx)
}
