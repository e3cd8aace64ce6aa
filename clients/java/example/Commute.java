import java.nio.file.Path;
import java.nio.file.Paths;
import sottovoce.Client;
import sottovoce.Refusal;
import sottovoce.Store;

/** Reports how many minutes the way to work took:  java -cp sottovoce.jar Commute.java URL CAMPAIGN MINUTES */
public final class Commute {
    public static void main(String[] arguments) {
        Path folder = Paths.get(System.getProperty("records", System.getProperty("user.home") + "/.commute"));
        Double minutes = arguments[2].equals("-") ? null : Double.valueOf(arguments[2]); // "-": rather not say
        try {
            double agreed = 1.0; // the ε that the person agreed to
            Client client = Client.at(arguments[0], arguments[1]).open(agreed, Store.files(folder)); // a draw is recorded there first
            System.out.println(client.campaign.get("question"));
            System.out.println("The mechanism's exact epsilon is " + client.reporter.audit.epsilon);
            Client.Receipt receipt = client.report(minutes);
            System.out.println("Sent report " + receipt.cells()[0] + " of " + client.reporter.cells);
            System.out.println("It stands for " + receipt.value);
        } catch (Refusal refusal) {
            System.out.println(refusal.kind + " " + refusal.code + ": " + refusal.getMessage());
            System.exit(refusal.retryable ? 75 : 1); // 75: try again later, the same draw is sent
        }
    }
}
