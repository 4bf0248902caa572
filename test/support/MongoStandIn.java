import de.bwaldvogel.mongo.MongoServer;
import de.bwaldvogel.mongo.MongoVersion;
import de.bwaldvogel.mongo.backend.memory.MemoryBackend;
import de.bwaldvogel.mongo.bson.Document;
import io.netty.channel.Channel;
import java.util.List;

/** mongo-java-server in memory on a free port of 127.0.0.1; prints the port, ends when its input does. */
public class MongoStandIn {
  /** The library says MongoDB 5.0 has wire version 8, which current drivers refuse; the true number is 13. */
  static final MongoVersion MONGODB_5 = new MongoVersion() {
    public int getWireVersion() { return 13; }
    public List<Integer> getVersionArray() { return List.of(5, 0, 0); }
  };

  /** MongoDB 5.0 answers to "hello"; the library knows the command by its old name only. */
  static class Backend extends MemoryBackend {
    @Override
    public Document handleCommand(Channel channel, String database, String command, Document query) {
      return super.handleCommand(channel, database, command.equals("hello") ? "isMaster" : command, query);
    }
  }

  public static void main(String[] args) throws Exception {
    Backend backend = new Backend();
    backend.version(MONGODB_5);
    MongoServer server = new MongoServer(backend);
    server.bind("127.0.0.1", 0);
    System.out.println("port " + server.getLocalAddress().getPort());
    while (System.in.read() != -1) { }
    server.shutdownNow();
    System.exit(0);
  }
}
